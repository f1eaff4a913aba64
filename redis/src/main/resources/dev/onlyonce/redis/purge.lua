-- For each entry that may be past its retention, and an unused argument. Answers 1 if it was deleted or made a tombstone, else 0.
return answer(1, function(key, base, member)
  local expiries = base .. 'expiries'
  local e = read(key)
  if not e or gone(e) then
    -- Without an entry, native expiry was first.
    call('ZREM', expiries, member)
    call('ZREM', base .. 'ids', member)
    return call('DEL', key)
  end
  if shown(e) == EXPIRED and e.state ~= EXPIRED then
    e.state, e.result = EXPIRED, nil
    call('ZADD', expiries, ending(e), member)
    write(key, e)
    return 1
  end
  if e.expires > 0 then
    call('ZADD', expiries, e.state == EXPIRED and ending(e) or e.expires, member)
  else
    call('ZREM', expiries, member)
  end
  return 0
end)
