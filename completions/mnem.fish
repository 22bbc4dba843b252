complete --keep-order --exclusive --command mnem --arguments "(COMPLETE=fish mnem -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
