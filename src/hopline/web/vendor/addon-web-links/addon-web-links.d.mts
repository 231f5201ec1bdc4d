export * from "@xterm/addon-web-links";
