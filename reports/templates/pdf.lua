-- What pandoc needs to know of our HTML to write Typst.

-- The style of a row is that of its cells.
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

-- Columns as wide as they need, aligned as their heads.
local function style_table(item)
  local heads = item.head.rows[#item.head.rows].cells
  local specs = {}
  for at, head in ipairs(heads) do
    local share = head.attr.attributes["share"] -- of the table's width, in per cent
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

-- How long the text of each cell of the body is, and the longest of each column.
local function lengths_of(item)
  local lengths, longest = {}, {}
  for at, row in ipairs(item.bodies[1].body) do
    lengths[at] = {}
    for column, cell in ipairs(row.cells) do
      lengths[at][column] = #pandoc.utils.stringify(cell.contents)
      longest[column] = math.max(longest[column] or 1, lengths[at][column])
    end
  end
  return lengths, longest
end

-- Columns with a share take what the others leave them, at about a hundred characters a line, but
-- no more than they need.
local function widen(item, longest)
  local needed, spare, shares = {}, 1, 0
  for at, head in ipairs(item.head.rows[#item.head.rows].cells) do
    local most = longest[at]
    for word in pandoc.utils.stringify(head.contents):gmatch("%S+") do most = math.max(most, #word) end
    needed[at] = (most + 3) / 100
  end
  for at, spec in ipairs(item.colspecs) do
    if spec[2] and needed[at] <= spec[2] then spec[2] = nil end
    if spec[2] then shares = shares + spec[2] else spare = spare - needed[at] end
  end
  for at, spec in ipairs(item.colspecs) do
    if spec[2] then spec[2] = math.max(spec[2], math.min(needed[at], spec[2] * spare / shares)) end
  end
end

-- About how many lines the body of a table takes; columns without a share are as wide as they
-- need, or narrower in proportion.
local function lines_of(item, lengths, longest)
  local total, all = 0, 0
  for _, length in ipairs(longest) do all = all + length end
  for _, row in ipairs(lengths) do
    local tallest = 1
    for column, length in ipairs(row) do
      local share = item.colspecs[column][2]
      local width = share and 100 * share or longest[column] * math.min(1, 100 / all)
      tallest = math.max(tallest, math.ceil(length / width))
    end
    total = total + tallest
  end
  return total
end

function Figure(figure)
  if not figure.classes:includes("table") then return nil end
  local found
  figure:walk({ Table = function(item) found = item end })
  style_table(found)
  local lengths, longest = lengths_of(found)
  widen(found, longest)
  found.caption = figure.caption
  found.attr = pandoc.Attr(figure.identifier)
  -- A tall table may be torn: it would leave too much of a page empty.
  if lines_of(found, lengths, longest) < 18 then return found end
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

-- A part holds its figures.
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
