"""Who is linked, dialled, admitted and dead: pure. Bytes and times in, actions out."""
