"""The sessions that the guide shows. test_guide.py runs each in a shell; ids, pids and times differ from run to run."""

EXAMPLES = {
    "first-run": """\
$ hopline run -- sh -c 'echo hello; exit 3'
hello
$ echo $?
3
$ hopline logs @last
hello
""",
    "listing": """\
$ hopline run --name build -- sh -c 'echo compiling; exit 2'
compiling
$ hopline run --detach --name agent -- sleep 600 > record.json
$ hopline ls
RUN           NAME   STATUS      AGE  COMMAND
5f0c3a9be211  build  failed (2)  0s   sh -c 'echo compiling; exit 2'
a8d2417c60f3  agent  running     0s   sleep 600
""",
    "exact": r"""
$ hopline run --name noise -- head -c 1000000 /dev/urandom > seen
$ hopline logs noise --raw | cmp - seen && echo the same
the same
$ printf 'a\nb\nc\n' | hopline run --name lines -- sort -r
c
b
a
$ hopline logs lines --tail 1
a
$ hopline logs lines --json | tail -n 1 | grep -o '"type":"[a-z_]*"'
"type":"run_finished"
""".lstrip("\n"),
    "input": """\
$ hopline run --detach --name ask -- sh -c 'read -r answer; echo "you said $answer"' > record.json
$ hopline send ask yes
delivered: 4 bytes are in the worker's input
$ hopline logs ask --follow
you said yes
""",
    "stop": """\
$ hopline run --detach --name stubborn -- sh -c 'trap "" INT; exec yes > /dev/null' > record.json
$ sleep 0.5
$ hopline interrupt stubborn
delivered (the worker decides what to do; stopping it is: hopline stop a8d2417c60f3)
$ hopline stop stubborn --grace 0.5
stop         accepted
worker       ended by signal 9 (SIGKILL)
descendants  gone (subreaper and environment marker)
run          stopped
""",
    "survivor": """\
$ hopline run --name forks -- sh -c 'setsid sleep 600 > /dev/null 2>&1 & sleep 0.3'
hopline: the worker ended, but 1 process remains (subreaper and environment marker):
  4711 sleep, started 2026-01-01T12:00:00.000Z · end it: hopline doctor 5f0c3a9be211 --end 4711@86400.00
""",
    "doctor": """\
$ hopline run --name fine -- true
$ hopline doctor
orphans      none
sockets      none left behind
journals     1 read (3.0 kB), none with trouble
""",
    "mistakes": """\
$ hopline run -- no-such-program
hopline: there is no program 'no-such-program' on PATH; check the spelling or give its path.
$ hopline show nobody
hopline: there is no run 'nobody'; `hopline ls --all` lists them.
$ echo $?
4
""",
}
