-- Converts the report's HTML for pandoc's Typst writer.

-- The style of a row applies to its cells.
local function style_row(row)
  local strong, muted = row.attr.classes:includes("strong"), row.attr.classes:includes("muted")
  row.attr = pandoc.Attr() -- nothing on paper links to it
  if not (strong or muted) then return end
  for _, cell in ipairs(row.cells) do
    cell.contents = cell.contents:map(function(block)
      local styled = strong and pandoc.Strong(block.content)
        or pandoc.Span(block.content, pandoc.Attr("", {}, { ["typst:text:fill"] = "quiet" }))
      return pandoc.Plain({ styled })
    end)
  end
end

-- Columns with a share of the width keep it, other columns are as wide as their content; columns are
-- aligned like their heads.
local function style_table(item)
  local heads = item.head.rows[#item.head.rows].cells
  local specs = {}
  for at, head in ipairs(heads) do
    local share = head.attr.attributes["share"] -- in per cent
    specs[at] = { head.attr.classes:includes("left") and "AlignLeft" or "AlignRight", share and tonumber(share) / 100 }
    head.attr = pandoc.Attr()
  end
  item.colspecs = specs
  for at = 1, #item.head.rows - 1 do
    for _, cell in ipairs(item.head.rows[at].cells) do cell.alignment = "AlignCenter" end
  end
  for _, body in ipairs(item.bodies) do
    for _, row in ipairs(body.body) do style_row(row) end
  end
end

function Figure(figure)
  if not figure.classes:includes("table") then return nil end
  local found
  figure:walk({ Table = function(item) found = item end })
  style_table(found)
  found.caption = figure.caption
  found.attr = pandoc.Attr(figure.identifier)
  -- A long table may break over pages: in one piece it could leave much of a page empty.
  if #found.bodies[1].body < 16 then return found end
  return { pandoc.RawBlock("typst", "#show-torn["), found, pandoc.RawBlock("typst", "]") }
end

function Div(div)
  if div.classes:includes("contents") then -- after the first page
    return pandoc.RawBlock("typst", "]\n#contents()\n#part[")
  end
  if div.classes:includes("references") then
    return { pandoc.RawBlock("typst", "#references["), div, pandoc.RawBlock("typst", "]") }
  end
  return div.content
end

function Header(heading)
  -- Typst numbers headings itself.
  if heading.content[1] and heading.content[1].t == "Span" and heading.content[1].classes:includes("number") then
    heading.content:remove(1)
  else
    heading.classes:insert("unnumbered")
  end
  return heading
end

-- The figures of a part stay in it.
function Pandoc(document)
  local blocks, last = pandoc.Blocks({ pandoc.RawBlock("typst", "#part(floats: none)[") }), nil
  for _, block in ipairs(document.blocks) do
    if last and block.t == "Header" and block.level <= 2 then
      blocks:insert(pandoc.RawBlock("typst", "]#part["))
    end
    blocks:insert(block)
    last = block
  end
  blocks:insert(pandoc.RawBlock("typst", "]"))
  return pandoc.Pandoc(blocks, document.meta)
end
