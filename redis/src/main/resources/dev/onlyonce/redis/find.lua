-- For each entry: how many bytes of it (0 for all). Answers what is stored, empty for nothing.
return answer(1, function(key, base, member, at)
  return call('GETRANGE', key, 0, ARGV[at] - 1)
end)
