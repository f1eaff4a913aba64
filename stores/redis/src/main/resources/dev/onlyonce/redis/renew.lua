-- For each entry: token, lease in ms. Answers 1 if the lease was renewed, else 0.
need_no_memory()
return answer(2, function(i, key, raw, at)
  if not raw or byte(raw, 2) ~= PROCESSING or not has_token(raw, ARGV[at]) then
    return 0
  end
  local partition, member = place(key)
  -- One that was held up takes nothing back.
  local lease = math.max(number(raw, LEASE), time + ARGV[at + 1] * 1000)
  add(partition, 'leases', score(lease), member)
  write(i, partition, key, leased(raw, lease))
  return 1
end)
