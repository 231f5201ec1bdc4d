export * from "@xterm/addon-unicode11";
