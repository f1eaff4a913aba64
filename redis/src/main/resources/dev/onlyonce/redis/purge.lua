-- For each entry that may be past its retention, and an unused argument. Answers 1 if it was deleted or made a tombstone, else 0.
need_no_memory()
return answer(1, function(i, key, raw)
  local partition, member = place(key)
  if not raw or gone(raw) then
    -- Without an entry, native expiry was first.
    remove(partition, 'expiries', member)
    remove(partition, 'ids', member)
    if not raw then
      return 0
    end
    if ARGV[2] == '1' then
      record_own(partition, member, raw)
    end
    write(i, partition, key, false)
    return 1
  end
  local state, expires = byte(raw, 2), number(raw, EXPIRES)
  local last = ending(state, expires, number(raw, TOMBSTONE_MS))
  if shown(raw) == EXPIRED and state ~= EXPIRED then
    add(partition, 'expiries', score(last), member)
    if ARGV[2] == '1' then
      record_own(partition, member, raw)
    end
    write(i, partition, key, char(FORMAT, EXPIRED, has(byte(raw, 3), TOKEN)) .. sub(raw, 4, head_end(raw)), native_expiry(last))
    return 1
  end
  if expires > 0 then
    add(partition, 'expiries', score(state == EXPIRED and last or expires), member)
  else
    remove(partition, 'expiries', member)
  end
  return 0
end)
