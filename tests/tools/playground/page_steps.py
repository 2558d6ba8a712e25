"""Actions of tests on the page, and the expressions that they evaluate."""

from tests.browser.devtools import Page

POWER = "document.querySelector('#numbers td').title"
STATUS = "document.getElementById('status')"
WRONG = f"{STATUS}.classList.contains('wrong') && {STATUS}.textContent"
DRAWN = "document.querySelector('#plane circle.now') && document.querySelector('#series canvas')"
SWEPT = "document.querySelector('#sweep .named')?.textContent"
SLIDER = "document.querySelector('[data-name={}] input[type=range]')"
SPREAD = "document.querySelector('#numbers td small').textContent"
CHOSEN = "[...document.querySelectorAll('select')].map((each) => each.value)"


def show(page: Page, url: str, width: int = 1400, *, is_dark: bool = False) -> None:
    page.problems.clear()
    page.resize(width, 900, is_dark=is_dark)
    page.open(url)
    page.wait_for(DRAWN)
    settle(page)


def settle(page: Page) -> None:
    """Waits until the newest run is drawn."""
    page.wait_for("document.getElementById('pictures').ariaBusy === 'false'")


def slide(page: Page, name: str, share: float, *, settles: bool = True) -> None:
    page.evaluate(
        f"(() => {{ const slider = {SLIDER.format(name)}; slider.value = {1000 * share};"
        "slider.dispatchEvent(new Event('input')); })()"
    )
    if settles:
        settle(page)
