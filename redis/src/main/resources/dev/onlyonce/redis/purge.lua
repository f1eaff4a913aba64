-- For each entry that may be past its retention, and an unused argument. Answers 1 if it was deleted or made a tombstone, else 0.
return answer(1, function(key, base, member)
  local expiries = base .. 'expiries'
  local raw = read(key)
  if not raw or gone(raw) then
    -- Without an entry, native expiry was first.
    call('ZREM', expiries, member)
    call('ZREM', base .. 'ids', member)
    return call('DEL', key)
  end
  local state, expires = byte(raw, 2), number(raw, EXPIRES)
  local last = ending(state, expires, number(raw, TOMBSTONE_MS))
  if shown(raw) == EXPIRED and state ~= EXPIRED then
    local token = byte(raw, 3) % 2 == 1 and sub(raw, 8, 23) or nil
    call('ZADD', expiries, last, member)
    write_ended(key, raw, EXPIRED, token, number(raw, SETTLED), expires, nil)
    return 1
  end
  if expires > 0 then
    call('ZADD', expiries, state == EXPIRED and last or expires, member)
  else
    call('ZREM', expiries, member)
  end
  return 0
end)
