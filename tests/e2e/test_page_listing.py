"""The listing in a real browser: what a person with several runs sees at a glance."""

import pytest
from cli_rig import detached, hopline, wait_until_over
from page_rig import Watched, Web
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.timeout(120)


def test_a_run_appears_changes_and_ends_without_a_reload(web: Web, watched: Watched) -> None:
    watched.open(web)
    expect(watched.locator(".empty")).to_contain_text("No runs yet")
    assert "token" not in watched.page.url

    record = detached("--name", "fix-auth", "--", "cat")
    row = watched.locator("a.run")
    expect(row).to_have_count(1)
    expect(row.locator(".name")).to_have_text("fix-auth")
    expect(row.locator(".state")).to_have_text("running")
    expect(watched.locator(".summary")).to_contain_text("1 running")

    hopline("send", record["id"], "--eof")
    expect(row.locator(".state")).to_have_text("completed")
    expect(watched.locator(".summary")).to_contain_text("0 running")
    expect(watched.locator("#announcements")).to_have_text("fix-auth: completed")


def test_what_is_wrong_stands_first_until_it_was_looked_at(web: Web, watched: Watched) -> None:
    detached("--name", "alive", "--", "cat")
    failed = detached("--name", "broken", "--", "sh", "-c", "exit 3")
    wait_until_over(failed["id"])
    watched.open(web)
    names = watched.locator("a.run .name")
    expect(names).to_have_text(["broken", "alive"])
    expect(watched.locator("a.run").first.locator(".state")).to_have_text("failed: exit 3, descendants gone")

    watched.locator("a.run").first.click()
    expect(watched.locator(".run-bar .state")).to_have_text("failed: exit 3")
    watched.wait_for_claim("ended")
    watched.page.keyboard.press("Escape")
    expect(names).to_have_text(["alive", "broken"])


def test_keys_move_open_and_search(web: Web, watched: Watched) -> None:
    for name in ("one", "two", "three"):
        detached("--name", name, "--", "cat")
    watched.open(web)
    names = watched.locator("a.run .name")
    expect(names).to_have_count(3)
    order = names.all_inner_texts()

    watched.page.keyboard.press("j")
    watched.page.keyboard.press("j")
    expect(watched.locator("a.run:focus .name")).to_have_text(order[1])
    watched.page.keyboard.press("k")
    expect(watched.locator("a.run:focus .name")).to_have_text(order[0])

    watched.page.keyboard.press("/")
    watched.page.keyboard.type("tw")
    expect(names).to_have_text(["two"])
    watched.page.keyboard.type("x")
    expect(watched.locator(".note")).to_contain_text("No run matches")
    watched.locator(".note button").click()
    expect(names).to_have_count(3)

    watched.page.keyboard.press("?")
    expect(watched.locator("dialog")).to_contain_text("interrupt the worker")
    watched.page.keyboard.press("Escape")
    watched.page.keyboard.press("g")
    watched.page.keyboard.press("Enter")
    expect(watched.locator(".run-bar h1")).to_have_text(order[0])


def test_rows_stay_where_they_are_while_a_pointer_is_on_them(web: Web, watched: Watched) -> None:
    detached("--name", "alive", "--", "cat")
    watched.open(web)
    names = watched.locator("a.run .name")
    expect(names).to_have_text(["alive"])
    watched.locator("a.run").hover()
    wait_until_over(detached("--name", "broken", "--", "false")["id"])
    expect(names).to_have_text(["alive", "broken"])
    watched.page.mouse.move(5, 5)
    expect(names).to_have_text(["broken", "alive"])


def test_the_page_says_when_the_gateway_is_gone_and_finds_it_again(web: Web, watched: Watched) -> None:
    """WG-COMES-BACK"""
    detached("--name", "alive", "--", "cat")
    watched.open(web)
    expect(watched.locator(".claim")).to_have_text("live")
    web.kill()
    expect(watched.locator(".claim")).to_contain_text("gateway unreachable, retrying in")
    web.start()
    expect(watched.locator(".claim")).to_have_text("live")

    watched.page.reload()
    expect(watched.locator("a.run .name")).to_have_text(["alive"])
    watched.forgive_the_network()


def test_a_gateway_with_a_new_token_does_not_know_the_old_page(web: Web, watched: Watched) -> None:
    watched.open(web)
    web.kill()
    web._arguments = ("--new-token",)
    web.start()
    expect(watched.locator(".claim")).to_contain_text("session is over")
    watched.complaints.clear()


def test_a_phone_shows_rows_in_its_width(web: Web, browser: Browser) -> None:
    detached("--name", "a-run-with-quite-a-long-name-indeed", "--", "sh", "-c", "sleep 100 # " + "long " * 40)
    context = browser.new_context(viewport={"width": 360, "height": 700}, is_mobile=True, has_touch=True)
    watched = Watched(context.new_page()).open(web)
    expect(watched.locator("a.run")).to_have_count(1)
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 360
    box = watched.locator("a.run").bounding_box()
    assert box is not None
    assert box["height"] >= 44
    watched.locator("a.run").tap()
    expect(watched.locator(".run-bar h1")).to_be_visible()
    watched.wait_for_claim("^live")
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 360
    for button in watched.locator(".controls button:visible, .tabs button, .prompt button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44
    context.close()
    assert watched.complaints == []
