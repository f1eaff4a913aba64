-- For each entry that may be past its retention, and an unused argument. Answers 1 if it, or what native expiry has left of it in the
-- indexes, was deleted or made a tombstone, else 0: as long as all are 1, there may be more.
need_no_memory()
return answer(1, function(i, key, raw)
  local partition, member = place(key)
  if not raw or gone(raw) then
    -- Without an entry, native expiry was first; or another purge, which has removed it from the index.
    local counted = (raw or call('ZSCORE', partition.base .. 'expiries', member)) and 1 or 0
    remove(partition, 'expiries', member)
    remove(partition, 'ids', member)
    if raw then
      if ARGV[2] == '1' then
        record_own(partition, member, raw)
      end
      write(i, partition, key, false)
    end
    return counted
  end
  local state, expires = byte(raw, 2), number(raw, EXPIRES)
  local last = ending(state, expires, number(raw, TOMBSTONE_MS))
  if shown(raw) == EXPIRED and state ~= EXPIRED then
    local native = native_expiry(last)
    add(partition, 'expiries', score(last), member)
    if ARGV[2] == '1' then
      record_own(partition, member, raw)
    end
    write(i, partition, key, char(FORMAT, EXPIRED, has(byte(raw, 3), TOKEN)) .. sub(raw, 4, head_end(raw)), native)
    return 1
  end
  if expires > 0 then
    add(partition, 'expiries', score(state == EXPIRED and last or expires), member)
  else
    remove(partition, 'expiries', member)
  end
  return 0
end, beginnings)
