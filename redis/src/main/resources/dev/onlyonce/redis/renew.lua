-- For each entry: token, lease in ms. Answers 1 if the lease was renewed, else 0.
return answer(2, function(key, base, member, at)
  local token, lease = unpack(ARGV, at, at + 1)
  local e = read(key)
  if not e or e.state ~= PROCESSING or e.token ~= token then
    return 0
  end
  e.lease = time + lease * 1000
  call('ZADD', base .. 'leases', e.lease, member)
  write(key, e)
  return 1
end)
