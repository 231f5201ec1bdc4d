"""One run in a real browser: live, steered, resumed, and never more than it is."""

import os
import re
import signal
import sys

import pytest
from cli_rig import detached, hopline, wait_for_output, wait_until_over
from page_rig import Watched, Web
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.timeout(120)

WORKER = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: print("caught"))
print("ready")
for line in sys.stdin:
    print("got", line.strip())
print("ended")
while True:
    signal.pause()
"""

COUNTER = "i=0; while :; do i=$((i+1)); echo line-$i; sleep 0.02; done"


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^line-(\d+)$", text, re.MULTILINE)]


def test_output_is_live_with_its_colours_and_characters(web: Web, watched: Watched) -> None:
    record = detached("--", "sh", "-c", r'printf "\033[31mred\033[0m \033[38;2;1;90;3mgreen\033[0m 日本語 😀\n"; cat')
    watched.open(web, record["id"])
    watched.wait_for_output("red green 日本語 😀")
    colour = watched.page.locator(".xterm-rows span", has_text="green").evaluate("span => getComputedStyle(span).color")
    assert colour == "rgb(1, 90, 3)"
    hopline("send", record["id"], "more")
    watched.wait_for_output("more")
    watched.wait_for_claim(r"^live · event \d+ · missed nothing$")


def test_input_interrupt_restart_and_stop_are_proven_step_by_step(web: Web, watched: Watched) -> None:
    record = detached("--name", "steered", "--", sys.executable, "-u", "-c", WORKER)
    wait_for_output(record["id"], b"ready")
    watched.open(web, record["id"])
    watched.wait_for_output("ready")

    watched.page.keyboard.press("i")
    watched.page.keyboard.type("hello")
    watched.page.keyboard.press("Enter")
    watched.wait_for_output("got hello")
    assert watched.wait_for_steps("input") == {"asked": True, "accepted": True, "delivered": True}
    watched.page.keyboard.press("ArrowUp")
    expect(watched.locator(".prompt input")).to_have_value("hello")
    watched.page.keyboard.press("Escape")

    watched.page.keyboard.press(".")
    watched.wait_for_steps("interrupt")
    watched.wait_for_output("caught")

    watched.page.get_by_role("button", name="EOF").click()
    watched.wait_for_output("ended")
    expect(watched.locator(".prompt input")).to_be_disabled()

    watched.page.get_by_role("button", name="Restart…").click()
    watched.page.locator("dialog select").select_option("1")
    watched.page.locator("dialog").get_by_role("button", name="Restart").click()
    watched.wait_for_steps("restart")
    expect(watched.locator(".run-bar .summary")).to_contain_text("generation 2")
    expect(watched.locator(".prompt input")).to_be_enabled()

    watched.page.get_by_role("button", name="Stop…").click()
    expect(watched.locator("dialog")).to_contain_text("Stop steered?")
    watched.page.locator("dialog").get_by_role("button", name="Cancel").click()
    expect(watched.locator(".run-bar .state")).to_have_text("running")
    watched.page.get_by_role("button", name="Stop…").click()
    watched.page.locator("dialog select").select_option("1")
    watched.page.locator("dialog").get_by_role("button", name="Stop").click()
    watched.wait_for_steps("stop")
    expect(watched.locator(".run-bar .state")).to_contain_text("stopped")
    expect(watched.locator(".facts").first).to_contain_text("gone")
    watched.wait_for_claim("^ended · event")
    expect(watched.page.get_by_role("button", name="Interrupt")).to_be_disabled()
    expect(watched.locator("#announcements")).to_contain_text("steered stopped")


def test_a_reload_comes_back_to_the_same_run(web: Web, watched: Watched) -> None:
    record = detached("--", "sh", "-c", COUNTER)
    watched.open(web, record["id"])
    watched.wait_for_output("line-")
    watched.page.reload()
    watched.wait_for_output("line-")
    watched.wait_for_claim("^live")


def test_a_killed_gateway_costs_nothing_that_was_written(web: Web, watched: Watched) -> None:
    """WG-COUNTED"""
    record = detached("--", "sh", "-c", COUNTER)
    watched.open(web, record["id"])
    watched.wait_for_output("line-20")
    web.kill()
    watched.wait_for_claim(r"gateway unreachable, retrying in \d s · shown up to event")
    held = numbers(watched.output())[-1]
    web.start()
    watched.wait_for_claim("^live · event [0-9,]+ · reconnected, missed nothing$")
    watched.wait(lambda: str(numbers(watched.output())[-1] > held + 5), "True", "what came meanwhile")
    seen = numbers(watched.output())
    assert seen == list(range(seen[0], seen[-1] + 1))
    watched.forgive_the_network()


def test_being_offline_costs_nothing_either(web: Web, watched: Watched) -> None:
    record = detached("--", "sh", "-c", COUNTER)
    watched.open(web, record["id"])
    watched.wait_for_output("line-20")
    web.kill()
    watched.wait_for_claim("gateway unreachable")
    watched.page.context.set_offline(True)
    web.start()
    watched.page.wait_for_timeout(1500)
    watched.wait_for_claim("gateway unreachable")
    watched.page.context.set_offline(False)
    watched.wait_for_claim("reconnected, missed nothing$")
    watched.forgive_the_network()


def test_reading_further_up_stands_still_and_jumps_back_to_live(web: Web, watched: Watched) -> None:
    record = detached("--", "sh", "-c", f"seq -f line-%g 1000; {COUNTER}")
    watched.open(web, record["id"])
    watched.wait_for_output("line-")
    watched.locator(".stage").hover()
    watched.page.mouse.wheel(0, -400)
    chip = watched.locator(".chip.below")
    expect(chip).to_contain_text("new")
    still = watched.output()
    watched.page.wait_for_timeout(300)
    assert watched.output() == still
    chip.click()
    expect(chip).to_have_count(0)
    watched.wait(lambda: str(watched.output() != still), "True", "the output")


def test_history_above_the_tail_loads_as_one_scrolls(web: Web, watched: Watched) -> None:
    # Written line by line, so that the tail of events is the smaller part.
    record = detached("--", "sh", "-c", "for i in $(seq 400); do echo line-$i; sleep 0.002; done; cat")
    wait_for_output(record["id"], b"line-400\n")
    watched.open(web, record["id"])
    watched.wait_for_output("line-400")
    seen: set[int] = set()
    for _ in range(40):
        seen |= set(numbers(watched.output()))
        if 1 in seen:
            break
        watched.page.keyboard.press("PageUp")
        watched.page.wait_for_timeout(60)
    assert seen == set(range(1, 401))
    watched.page.keyboard.press("G")
    watched.wait_for_output("line-400")


def test_the_beginning_of_a_long_run_is_one_key_away(web: Web, watched: Watched) -> None:
    script = "import sys; sys.stdout.writelines('line-%d\\n' % i for i in range(1, 200001)); sys.stdin.read()"
    record = detached("--", sys.executable, "-c", script)
    wait_for_output(record["id"], b"line-20000\n")
    watched.open(web, record["id"])
    watched.wait_for_output("line-200000")
    watched.page.keyboard.press("g")
    watched.wait_for_output("^line-1\n")
    watched.page.keyboard.press("PageDown")
    watched.wait_for_output("^line-[23][0-9]\n")
    watched.page.keyboard.press("G")
    watched.wait_for_output("line-200000")


def test_find_goes_to_what_was_written(web: Web, watched: Watched) -> None:
    record = detached("--", "sh", "-c", "seq -f line-%g 500; echo needle; seq -f line-%g 500; cat")
    watched.open(web, record["id"])
    watched.wait_for_output("line-500")
    watched.page.keyboard.press("/")
    watched.page.keyboard.type("needle")
    watched.wait_for_output("needle")
    expect(watched.locator(".find .found")).to_have_text("1 of 1")
    watched.page.keyboard.press("Escape")
    expect(watched.locator(".find")).to_have_count(0)


def test_an_ended_run_is_opened_read_only(web: Web, watched: Watched) -> None:
    record = detached("--", "sh", "-c", "echo was here")
    wait_until_over(record["id"])
    watched.open(web, record["id"])
    watched.wait_for_output("was here")
    watched.wait_for_claim("^ended")
    for name in ("Interrupt", "Restart…", "Stop…", "Send", "EOF"):
        expect(watched.page.get_by_role("button", name=name)).to_be_disabled()
    watched.page.keyboard.press("4")
    expect(watched.locator(".event-list")).to_contain_text("worker_exited")
    watched.locator(".event:has-text('run_started')").click()
    expect(watched.locator(".event-list pre")).to_contain_text('"outer_loop": "command"')


def test_a_run_whose_server_was_killed_says_up_to_where_it_is_recorded(web: Web, watched: Watched) -> None:
    record = detached("--", "sh", "-c", "echo before; sleep 100")
    wait_for_output(record["id"], b"before")
    os.kill(record["pid"], signal.SIGKILL)
    watched.open(web, record["id"])
    watched.wait_for_output("before")
    watched.wait_for_claim(r"^its server is gone · recorded up to event \d+$")
    expect(watched.locator(".facts").first).to_contain_text(f"hopline doctor {record['id']}")


def test_a_run_that_is_not_there_is_said(web: Web, watched: Watched) -> None:
    watched.open(web, "0123456789ab")
    watched.wait_for_claim("there is no run '0123456789ab'")


def test_nothing_from_the_wire_becomes_markup(web: Web, watched: Watched) -> None:
    """WG-NO-MARKUP"""
    attack = "<img src=x onerror=window.broken=1><script>broken=1</script>"
    script = (
        f"printf '%s\\n' '{attack}'; "
        f"printf '\\033]0;{attack}\\007'; "
        "printf '\\033]8;;javascript:window.broken=1\\007click me\\033]8;;\\007\\n'; "
        "echo javascript:window.broken=2; cat"
    )
    record = detached("--name", attack, "--", "sh", "-c", script)
    watched.open(web)
    expect(watched.locator("a.run .name")).to_have_text(attack)
    watched.locator("a.run").click()
    watched.wait_for_output("click me")
    expect(watched.locator("h1")).to_have_text(attack)
    expect(watched.locator(".output-title")).to_have_text(attack)
    watched.locator(".xterm").get_by_text("click me").click(force=True)
    for digit in "2345":
        watched.page.keyboard.press(digit)
    watched.page.get_by_role("button", name="Stop…").click()
    expect(watched.locator("dialog h2")).to_have_text(f"Stop {attack}?")
    watched.page.keyboard.press("Escape")
    hopline("send", record["id"], attack)
    watched.wait(lambda: str(watched.output().count("<script>")), "2", "the echo")
    assert watched.page.evaluate("window.broken") is None
    assert watched.page.evaluate("document.querySelectorAll('#app img, #app script').length") == 0
    assert len(watched.page.context.pages) == 1


def test_two_pages_on_one_run_see_what_either_asks(web: Web, watched: Watched, browser: Browser) -> None:
    record = detached("--", "bash", "-c", "trap 'echo caught' INT; echo ready; while :; do sleep 0.1; done")
    wait_for_output(record["id"], b"ready")
    watched.open(web, record["id"])
    watched.wait_for_output("ready")
    context = browser.new_context()
    other = Watched(context.new_page()).open(web, record["id"])
    other.wait_for_output("ready")
    other.page.keyboard.press(".")
    other.wait_for_steps("interrupt")
    watched.wait_for_steps("interrupt")
    watched.wait_for_output("caught")
    context.close()


def test_light_dark_and_wrapping_are_a_persons_choice(web: Web, watched: Watched) -> None:
    record = detached("--", "sh", "-c", f"echo {'x' * 110}; cat")
    watched.page.set_viewport_size({"width": 800, "height": 700})
    watched.open(web, record["id"])
    watched.wait_for_output("x{50}")
    assert "x" * 110 not in watched.output()
    watched.page.get_by_role("button", name="Wrap lines").click()
    watched.wait_for_output("x{110}")

    ground = "() => getComputedStyle(document.documentElement).backgroundColor"
    before = watched.page.evaluate(ground)
    watched.page.keyboard.press("t")
    assert watched.page.evaluate(ground) != before
    watched.page.reload()
    watched.wait_for_output("x{110}")
    assert watched.page.evaluate(ground) != before


def test_a_workers_terminal_takes_keys_and_this_windows_size(web: Web, watched: Watched) -> None:
    record = detached("--pty", "--", "bash", "--norc")
    wait_for_output(record["id"], b"bash")
    watched.open(web, record["id"])
    watched.wait_for_output(r"bash\S*[#$]")
    size = watched.page.get_by_role("button", name="Size of the worker's terminal")
    expect(size).to_have_text("80×24")
    watched.locator(".xterm").click()
    watched.page.keyboard.type("stty size; echo /?.")
    watched.page.keyboard.press("Enter")
    watched.wait_for_output("24 80\n/\\?\\.\n")
    expect(watched.locator("dialog")).to_be_hidden()

    watched.page.keyboard.press("Control+\\")
    size.click()
    expect(size).not_to_have_text("80×24")
    columns, rows = size.inner_text().split("×")
    watched.page.keyboard.press("i")
    watched.page.keyboard.type("stty size")
    watched.page.keyboard.press("Enter")
    watched.wait_for_output(f"{rows} {columns}")


def test_a_page_answers_no_question_that_is_for_a_terminal(web: Web, watched: Watched) -> None:
    questions = r"\033[6n\033[c\033[>c\033[?6n\033]10;?\007\033[?2026\$p\033P\$qm\033\\\\"
    script = f"stty raw -echo; read -n1 x; printf '{questions}'; read -t 1.5 -n1 x; stty sane; echo \"heard[$x]\"; cat"
    record = detached("--pty", "--", "bash", "-c", script)
    watched.open(web, record["id"])
    watched.wait_for_claim("^live")
    watched.locator(".xterm").click()
    watched.page.keyboard.press("x")
    watched.wait_for_output(r"heard\[\]")
