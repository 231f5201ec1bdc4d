"""Takes the terminal on standard input, else standard error, as its session's own, then becomes the command."""

import fcntl
import os
import sys
import termios

for descriptor in (0, 2):
    if os.isatty(descriptor):
        fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)
        break
os.execv(sys.argv[1], sys.argv[1:])
