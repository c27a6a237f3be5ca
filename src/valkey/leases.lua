-- Leases of shared counters: what src/limits/shared-counter.ts does in memory, here for all processes of a gateway.
-- One call has many claims. Time is the server's own. Amounts are whole numbers up to 2^53, passed as texts.
-- KEYS[1] begins the names of all keys. ARGV: operation, holder, turn, milliseconds of a lease, then what is claimed.
local prefix = KEYS[1]
local operation, holder, turn, leaseMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local CONTENDED_MS = 3000
local REVIEW_LEASES = 10
local CLOCKS_DIFFER_MS = 10000
local LONGEST_MS = 40 * 86400000
local NEVER = math.huge

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function text(number)
  if number == NEVER then return '' end
  return string.format('%.17g', number)
end

local function numberOr(value, other)
  if not value or value == '' then return other end
  return tonumber(value)
end

-- Fences grow, also over a loss of all data: they are not below the microseconds of the clock.
local lastFence = numberOr(redis.call('GET', prefix .. 'fence'), 0)
local function nextFence()
  lastFence = math.max(lastFence + 1, now * 1000)
  return lastFence
end
local function keepFence() redis.call('SET', prefix .. 'fence', text(lastFence)) end

-- A server that is new, has started again or has taken over may have lost leases that processes still have: nothing new is
-- leased until these are over.
local function settlesIn(knownFence)
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  local since = redis.call('HMGET', prefix .. 'since', 'run', 'ms')
  local at = numberOr(since[2], nil)
  if since[1] ~= run or not at or knownFence > lastFence then
    at = now
    redis.call('HSET', prefix .. 'since', 'run', run, 'ms', text(at))
  end
  return math.max(0, at + leaseMs - now)
end

local function hear()
  redis.call('ZADD', prefix .. 'heard', now, holder)
  redis.call('ZREMRANGEBYSCORE', prefix .. 'heard', '-inf', '(' .. text(now - leaseMs))
  return redis.call('ZCARD', prefix .. 'heard')
end

-- One counter in one period --------------------------------------------------------------------------------------------

-- What is known of all its holders together, packed into one field: scripts spend their time on calls.
local FIELDS = {
  'known', 'lingers', 'review', 'reviewAt', 'changedAt', 'refusedAt', 'restoredFence', 'ceilings', 'settled', 'remains',
  'holders', 'vanished', 'firstRemains', 'lastRemains', 'xFence', 'xExpires', 'xSettled', 'xAt', 'xLast', 'keptUntil',
}

-- Also reads what it has of this call's holder: `own`, what it holds, and `gone`, what remains of it.
local function open(name, period)
  local key = prefix .. 'c:' .. name .. ':' .. period
  local values = redis.call('HMGET', key, 's', 'h:' .. holder, 'v:' .. holder)
  if not values[1] then return nil end
  local counter = { key = key, index = key .. ':e' }
  for at, value in ipairs(cmsgpack.unpack(values[1])) do counter[FIELDS[at]] = value end
  counter.own = values[2] and cmsgpack.unpack(values[2]) or nil
  counter.gone = values[3] and cmsgpack.unpack(values[3]) or nil
  return counter
end

local function save(counter, ...)
  local keepsMs = counter.lingers == NEVER and LONGEST_MS or counter.lingers + leaseMs + 60000
  local isKept = counter.keptUntil - now > keepsMs / 2
  if not isKept then counter.keptUntil = now + keepsMs end
  local values = {}
  for at, field in ipairs(FIELDS) do values[at] = counter[field] end
  redis.call('HSET', counter.key, 's', cmsgpack.pack(values), ...)
  if not isKept then
    redis.call('PEXPIRE', counter.key, keepsMs)
    redis.call('PEXPIRE', counter.index, keepsMs)
  end
end

-- Whether the ledger knows what was used.
local function isInLedger(lingers, review) return lingers == NEVER or review ~= NEVER end

-- Made where it is the first; nil where its period is long over.
local function openOrMake(name, period, lingers, review)
  local known = open(name, period)
  if known then return known end
  local list = prefix .. 'p:' .. name
  local periods = redis.call('ZRANGE', list, 0, -1)
  local oldest = numberOr(periods[1], nil)
  if oldest and #periods >= 2 and period + 0 < oldest then return nil end
  -- Of a period that began while this server was watching, the ledger has nothing that is not known here.
  local watched = oldest and numberOr(redis.call('HGET', prefix .. 'c:' .. name .. ':' .. periods[1], 'm'), nil)
  local isKnown = not isInLedger(lingers, review) or (watched ~= nil and watched + CLOCKS_DIFFER_MS <= period + 0)
  redis.call('ZADD', list, period, period)
  redis.call('PEXPIRE', list, LONGEST_MS)
  if #periods >= 2 then
    redis.call('ZREM', list, periods[1])
    local over = prefix .. 'c:' .. name .. ':' .. periods[1]
    redis.call('DEL', over, over .. ':e')
  end
  local key = prefix .. 'c:' .. name .. ':' .. period
  -- Since when it is counted here.
  redis.call('HSET', key, 'm', text(now))
  local counter = { key = key, index = key .. ':e' }
  for _, field in ipairs(FIELDS) do counter[field] = 0 end
  counter.known, counter.lingers, counter.review = isKnown and 1 or 0, lingers, review
  counter.reviewAt = NEVER
  return counter
end

local function keep(counter, amount, untilMs, who, held)
  if amount <= 0 or untilMs <= now then return end
  counter.lastRemains = counter.lastRemains + 1
  counter.remains = counter.remains + amount
  local id = 'r:' .. text(counter.lastRemains)
  redis.call('HSET', counter.key, id, cmsgpack.pack({ amount, who or '' }))
  if untilMs ~= NEVER then redis.call('ZADD', counter.index, untilMs, id) end
  if not who then return end
  counter.vanished = counter.vanished + 1
  local gone = { id, held[4], held[5] }
  redis.call('HSET', counter.key, 'v:' .. who, cmsgpack.pack(gone))
  if who == holder then counter.gone = gone end
end

local function dropRemains(counter, id)
  local value = redis.call('HGET', counter.key, id)
  if not value then return end
  local amount, who = unpack(cmsgpack.unpack(value))
  counter.remains = counter.remains - amount
  redis.call('HDEL', counter.key, id)
  redis.call('ZREM', counter.index, id)
  if who == '' then return end
  counter.vanished = counter.vanished - 1
  redis.call('HDEL', counter.key, 'v:' .. who)
  if who == holder then counter.gone = nil end
end

-- What a holder has: what it settled, its ceiling, when that expires, its turn, and the fence of the lease that told it that
-- it was taken for dead; absent where an older version wrote it, 0 where it was not.
local function take(counter, held)
  counter.ceilings = counter.ceilings - held[2]
  counter.settled = counter.settled - held[1]
  counter.holders = counter.holders - 1
end

local function dropHolding(counter, who, held)
  take(counter, held)
  redis.call('HDEL', counter.key, 'h:' .. who)
  redis.call('ZREM', counter.index, 'h:' .. who)
  if who == holder then counter.own = nil end
end

-- A holder that did not renew its lease may have used all of it.
local function expire(counter)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', counter.index, '-inf', text(now))) do
    if string.sub(member, 1, 2) == 'h:' then
      local who = string.sub(member, 3)
      local value = redis.call('HGET', counter.key, member)
      if value then
        local held = cmsgpack.unpack(value)
        dropHolding(counter, who, held)
        keep(counter, held[2], held[3] + counter.lingers, who, held)
      end
    else
      dropRemains(counter, member)
    end
  end
end

local function lastTurnOf(counter)
  if counter.own then return counter.own[4] end
  return counter.gone and counter.gone[2] or 0
end

local function needsLedger(counter)
  if counter.known == 0 then return true end
  if not isInLedger(counter.lingers, counter.review) then return false end
  -- Where nobody is gone it would say what the living say themselves.
  return counter.vanished > 0 or (counter.reviewAt <= now and counter.remains > 0)
end

local function share(need, want, free)
  if free < need then return 0 end
  return math.max(need, math.min(want, math.floor(free / 2)))
end

-- Returns its ceiling, what others have, the fair share, whether the ledger is needed, whether it was taken over.
local function claim(counter, one, isSettled, fence)
  expire(counter)
  local wasTakenOver = false
  local own = counter.own
  if turn > lastTurnOf(counter) then
    local isBack = not own and one.fence > 0
    local gone = isBack and counter.gone
    local isCounted = isBack and not gone and counter.restoredFence > one.fence
    -- Whoever is back speaks for itself again.
    if gone then dropRemains(counter, gone[1]) end
    -- Of a window that rolls, the ledger has to say again what is left of that.
    if isCounted and one.review ~= NEVER then counter.reviewAt = now end
    -- One that has not heard of it is told again: a message of before that came late may have had the answer.
    local takenOverAt = own and own[5] or gone and gone[3] or 0
    wasTakenOver = one.fence < takenOverAt or (isCounted and one.review == NEVER)
    if takenOverAt == 0 and wasTakenOver then takenOverAt = fence end
    local settled = wasTakenOver and 0 or one.settled
    if not own or own[1] ~= settled then counter.changedAt = now end
    -- Of a period nothing comes free: what somebody says no more, it has left to others, and the ledger has it.
    if own and counter.lingers == NEVER and settled < own[1] then
      keep(counter, own[1] - settled, NEVER)
      counter.reviewAt = now
    end
    if own then take(counter, own) end
    local used = one.used - one.settled + settled
    local mayLease = counter.known == 1 and isSettled
    local free = mayLease and one.limit - counter.ceilings - counter.remains - used or 0
    if mayLease and one.need > free then counter.refusedAt = now end
    own = { settled, used + share(one.need, one.want, free), now + leaseMs, turn, takenOverAt }
    counter.ceilings = counter.ceilings + own[2]
    counter.settled = counter.settled + settled
    counter.holders = counter.holders + 1
    save(counter, 'h:' .. holder, cmsgpack.pack(own))
    redis.call('ZADD', counter.index, now + leaseMs, 'h:' .. holder)
  else
    save(counter)
  end
  local ceiling = own and own[2] or 0
  local fair = one.limit
  if counter.refusedAt + CONTENDED_MS > now then fair = math.floor(one.limit / math.max(1, counter.holders)) end
  return { own and ceiling or one.used, counter.ceilings + counter.remains - ceiling, fair,
    needsLedger(counter) and 1 or 0, wasTakenOver and 1 or 0 }
end

-- The operations -------------------------------------------------------------------------------------------------------

local CLAIM = 10
local function claimsIn(from)
  local claims = {}
  for at = from, #ARGV, CLAIM do
    claims[#claims + 1] = {
      name = ARGV[at], period = ARGV[at + 1], limit = tonumber(ARGV[at + 2]), used = tonumber(ARGV[at + 3]),
      settled = tonumber(ARGV[at + 4]), need = tonumber(ARGV[at + 5]), want = tonumber(ARGV[at + 6]),
      lingers = numberOr(ARGV[at + 7], NEVER), review = numberOr(ARGV[at + 8], NEVER), fence = tonumber(ARGV[at + 9]),
    }
  end
  return claims
end

local operations = {}

function operations.claim()
  local claims = claimsIn(5)
  local knownFence = 0
  for _, one in ipairs(claims) do knownFence = math.max(knownFence, one.fence) end
  local settles = settlesIn(knownFence)
  local answer = { text(settles), text(hear()) }
  for _, one in ipairs(claims) do
    local fence = nextFence()
    local counter = openOrMake(one.name, one.period, one.lingers, one.review)
    -- Nothing more of a period that is long over.
    local granted = counter and claim(counter, one, settles == 0, fence) or { one.used, 0, one.limit, 0, 0 }
    answer[#answer + 1] = text(fence)
    for _, value in ipairs(granted) do answer[#answer + 1] = text(value) end
  end
  keepFence()
  return answer
end

function operations.leave()
  for _, one in ipairs(claimsIn(5)) do
    local counter = open(one.name, one.period)
    if counter then
      expire(counter)
      if counter.own and turn > counter.own[4] then
        dropHolding(counter, holder, counter.own)
        counter.changedAt = now
        keep(counter, one.used, now + counter.lingers)
      end
      if not isInLedger(counter.lingers, counter.review) and counter.holders == 0 and counter.remains == 0 then
        redis.call('DEL', counter.key, counter.index)
      else
        save(counter)
      end
    end
  end
  return 'OK'
end

function operations.restoring()
  local settles = settlesIn(0)
  local answer = {}
  for at = 5, #ARGV, 2 do
    local counter = open(ARGV[at], ARGV[at + 1])
    if not counter or counter.xExpires > now or settles > 0 then
      answer[#answer + 1] = ''
    else
      expire(counter)
      counter.xFence, counter.xExpires = nextFence(), now + leaseMs
      counter.xSettled, counter.xAt, counter.xLast = counter.settled, now, counter.lastRemains
      save(counter)
      answer[#answer + 1] = text(counter.xFence)
    end
  end
  keepFence()
  return answer
end

function operations.restored()
  local answer = {}
  for at = 5, #ARGV, 4 do
    local counter, fence, spent = open(ARGV[at], ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
    if not counter or counter.xFence ~= fence or counter.xExpires <= now then
      answer[#answer + 1] = '0'
    else
      expire(counter)
      -- The ledger replaces what was there when it was asked.
      -- Of a window that rolls, what somebody used who is gone counts no longer than before: the ledger only knows better
      -- how much.
      local untilMs = (counter.known == 0 or counter.lingers == NEVER) and now + counter.lingers or 0
      for at = counter.firstRemains, counter.xLast do
        local id = 'r:' .. text(at)
        if untilMs < now + counter.lingers then
          untilMs = math.max(untilMs, numberOr(redis.call('ZSCORE', counter.index, id), 0))
        end
        dropRemains(counter, id)
      end
      counter.firstRemains = counter.xLast + 1
      keep(counter, math.max(0, spent - counter.xSettled), untilMs)
      local isExact = counter.changedAt + leaseMs <= counter.xAt
      counter.reviewAt = now + (isExact and counter.review or math.min(counter.review, REVIEW_LEASES * leaseMs))
      counter.known, counter.restoredFence, counter.xFence, counter.xExpires = 1, fence, 0, 0
      save(counter)
      answer[#answer + 1] = '1'
    end
  end
  return answer
end

return operations[operation]()
