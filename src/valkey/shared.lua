-- What processes of a gateway share through one server, by its own time. Amounts are whole numbers up to 2^53, passed as texts;
-- names and frames are opaque. KEYS[1] begins all names, and has the number of the data's form. ARGV: operation, milliseconds
-- of a lease, then the words of the operation in their order.
local prefix, leaseMs, operations = KEYS[1], tonumber(ARGV[2]), {}
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local NEVER = math.huge

local place = 2
local function word()
  place = place + 1
  return ARGV[place]
end
local function number() return tonumber(word()) end
local function text(amount) return amount == NEVER and '' or string.format('%.17g', amount) end
local function numberOr(value, other) return value and value ~= '' and tonumber(value) or other end

-- Answers under idempotency keys: what src/exchange/memory-answer-store.ts does in memory. -----------------------------------
local function keyOf(name) return prefix .. 'a:' .. name end
local function framesOf(name, run, telling) return prefix .. 'f:' .. name .. ':' .. run .. ':' .. telling end
local function failedOf(name, run) return prefix .. 'e:' .. name .. ':' .. run end

-- Complete answers in the order in which they expire, and what they weigh together.
local order, weight = prefix .. 'ao', prefix .. 'aw'
local function drop(member)
  redis.call('ZREM', order, member)
  local chars, name, run, telling = string.match(member, '^(%d+) (%S+) (%S+) (%S+)$')
  redis.call('DECRBY', weight, chars)
  if redis.call('HGET', keyOf(name), 'run') == run then redis.call('DEL', keyOf(name)) end
  redis.call('DEL', framesOf(name, run, telling))
end

local function keepAnswer(name, run, telling, chars, keepsMs, mostChars)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', order, '-inf', now)) do drop(member) end
  redis.call('ZADD', order, now + keepsMs, chars .. ' ' .. name .. ' ' .. run .. ' ' .. telling)
  redis.call('INCRBY', weight, chars)
  while tonumber(redis.call('GET', weight)) > mostChars do
    local member = redis.call('ZRANGE', order, 0, 0)[1]
    if not member then redis.call('SET', weight, 0) break end
    drop(member)
  end
  for _, key in ipairs({ order, weight }) do redis.call('PEXPIRE', key, keepsMs * 2 + 60000) end
end

function operations.begin()
  local name, fingerprint, run = word(), word(), word()
  local key = keyOf(name)
  local known = redis.call('HMGET', key, 'fingerprint', 'run', 'state')
  if not known[1] then
    redis.call('HSET', key, 'fingerprint', fingerprint, 'run', run, 'telling', '0', 'state', 'running')
    redis.call('PEXPIRE', key, leaseMs)
    return { 'mine' }
  end
  if known[1] ~= fingerprint then return { 'conflict' } end
  if known[3] == 'large' then return { 'large' } end
  redis.call('HSET', key, 'heard', now)
  return { 'theirs', known[2] }
end

local function hearAnswer(failedMs, heardMs)
  local name, fingerprint, run, telling, told, state = word(), word(), word(), word(), number(), word()
  local keepsMs, mostChars, frameCount = number(), number(), number()
  local first = place
  place = place + frameCount
  local key, frames = keyOf(name), framesOf(name, run, telling)
  local known = redis.call('HMGET', key, 'run', 'telling', 'heard', 'state')
  if known[1] and known[1] ~= run then return 'lost' end
  if not known[1] or known[2] ~= telling then
    if told > 0 then return 'again' end
    if known[1] then redis.call('DEL', framesOf(name, run, known[2])) end
    redis.call('HSET', key, 'fingerprint', fingerprint, 'run', run, 'telling', telling)
  end
  local length = redis.call('LLEN', frames)
  if length < told then return 'again' end
  -- Those that were told already are told again where the reply was lost.
  for each = first + 1 + length - told, first + frameCount do redis.call('RPUSH', frames, ARGV[each]) end
  if state == 'failed' then
    redis.call('DEL', key)
    redis.call('SET', failedOf(name, run), telling, 'PX', failedMs)
    redis.call('PEXPIRE', frames, failedMs)
  else
    redis.call('HSET', key, 'state', state)
    local forMs = state == 'complete' and keepsMs or leaseMs
    for _, each in ipairs({ key, frames }) do redis.call('PEXPIRE', each, forMs) end
    if state == 'complete' and known[4] ~= 'complete' then
      local chars = 0
      for _, frame in ipairs(redis.call('LRANGE', frames, 0, -1)) do chars = chars + #frame end
      keepAnswer(name, run, telling, chars, keepsMs, mostChars)
    end
  end
  return now - numberOr(known[3], -heardMs) < heardMs and 'heard' or 'unheard'
end

local function tell(mostFrames)
  local name, run, telling, from = word(), word(), word(), number()
  local known = redis.call('HMGET', keyOf(name), 'run', 'telling', 'state')
  local isThere = known[1] == run
  local isTold = isThere and known[2] or redis.call('GET', failedOf(name, run))
  if not isTold then return { 'gone', telling, 0 } end
  if isThere then redis.call('HSET', keyOf(name), 'heard', now) end
  if isTold ~= telling then from = 0 end
  local frames = framesOf(name, run, isTold)
  return { isThere and known[3] or 'failed', isTold, redis.call('LLEN', frames),
    unpack(redis.call('LRANGE', frames, from, from + mostFrames - 1)) }
end

-- Begins with the milliseconds of a failed answer and of a listener, and the most frames of a reply.
function operations.exchange()
  local failedMs, heardMs, mostFrames = number(), number(), number()
  local heard, told = {}, {}
  for each = 1, number() do heard[each] = hearAnswer(failedMs, heardMs) end
  for each = 1, number() do told[each] = tell(mostFrames) end
  return { heard, told }
end

-- Each call makes all functions anew that come before its own.
if operations[ARGV[1]] then return operations[ARGV[1]]() end

-- Leases of shared counters: what src/limits/shared-counter.ts does in memory. Begin with holder and turn. ------------------
local holder, turn, lastFence
local CONTENDED_MS, REVIEW_LEASES, CLOCKS_DIFFER_MS, LONGEST_MS = 3000, 10, 10000, 40 * 86400000

-- Fences grow, also over a loss of all data: they are not below the microseconds of the clock.
local function nextFence() lastFence = math.max(lastFence + 1, now * 1000) return lastFence end

-- A server that is new, has started again or has taken over may have lost leases that processes still have: nothing new is
-- leased until these are over.
local function settlesIn(knownFence)
  lastFence = numberOr(redis.call('GET', prefix .. 'fence'), 0)
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  local since = redis.call('HMGET', prefix .. 'since', 'run', 'ms')
  local isSame = since[1] == run and numberOr(since[2]) and knownFence <= lastFence
  if not isSame then redis.call('HSET', prefix .. 'since', 'run', run, 'ms', text(now)) end
  return math.max(0, (isSame and tonumber(since[2]) or now) + leaseMs - now)
end

-- What is known of all holders of a counter in one period, packed into one field: scripts spend their time on calls.
local FIELDS = {
  'known', 'lingers', 'review', 'reviewAt', 'changedAt', 'refusedAt', 'restoredFence', 'ceilings', 'settled', 'remains',
  'holders', 'vanished', 'firstRemains', 'lastRemains', 'xFence', 'xExpires', 'xSettled', 'xAt', 'xLast', 'keptUntil',
}
local function named(name, period)
  local key = prefix .. 'c:' .. name .. ':' .. period
  return { key = key, index = key .. ':e' }
end

-- Also reads what it has of this call's holder: `own`, what it holds, and `gone`, what remains of it.
local function open(name, period)
  local counter = named(name, period)
  local values = redis.call('HMGET', counter.key, 's', 'h:' .. holder, 'v:' .. holder)
  if not values[1] then return nil end
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
  if isKept then return end
  for _, key in ipairs({ counter.key, counter.index }) do redis.call('PEXPIRE', key, keepsMs) end
end

-- Whether the ledger knows what was used.
local function isInLedger(lingers, review) return lingers == NEVER or review ~= NEVER end

-- For one that is not there. Nil where its period is long over.
local function make(name, period, lingers, review)
  local list = prefix .. 'p:' .. name
  local periods = redis.call('ZRANGE', list, 0, -1)
  local isFull = #periods >= 2
  if isFull and period + 0 < tonumber(periods[1]) then return nil end
  local oldest = periods[1] and named(name, periods[1])
  -- Of a period that began while this server was watching, the ledger has nothing that is not known here.
  local watched = oldest and numberOr(redis.call('HGET', oldest.key, 'm'))
  local isKnown = not isInLedger(lingers, review) or (watched ~= nil and watched + CLOCKS_DIFFER_MS <= period + 0)
  redis.call('ZADD', list, period, period)
  redis.call('PEXPIRE', list, LONGEST_MS)
  if isFull then
    redis.call('ZREM', list, periods[1])
    redis.call('DEL', oldest.key, oldest.index)
  end
  local counter = named(name, period)
  -- Since when it is counted here.
  redis.call('HSET', counter.key, 'm', text(now))
  for _, field in ipairs(FIELDS) do counter[field] = 0 end
  counter.known, counter.lingers, counter.review, counter.reviewAt = isKnown and 1 or 0, lingers, review, NEVER
  return counter
end

local function keep(counter, amount, untilMs, who, held)
  if amount <= 0 or untilMs <= now then return end
  counter.lastRemains, counter.remains = counter.lastRemains + 1, counter.remains + amount
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
-- it was taken for dead; absent where an older version wrote it, 0 where it was not. Counts it in, or out.
local function count(counter, held, sign)
  counter.settled = counter.settled + sign * held[1]
  counter.ceilings = counter.ceilings + sign * held[2]
  counter.holders = counter.holders + sign
end

local function dropHolding(counter, who, held)
  count(counter, held, -1)
  redis.call('HDEL', counter.key, 'h:' .. who)
  redis.call('ZREM', counter.index, 'h:' .. who)
  if who == holder then counter.own = nil end
end

-- A holder that did not renew its lease may have used all of it.
local function expire(counter)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', counter.index, '-inf', text(now))) do
    local who = string.match(member, '^h:(.*)')
    local value = who and redis.call('HGET', counter.key, member)
    if value then
      local held = cmsgpack.unpack(value)
      dropHolding(counter, who, held)
      keep(counter, held[2], held[3] + counter.lingers, who, held)
    elseif not who then dropRemains(counter, member) end
  end
end

local function needsLedger(counter)
  -- Where nobody is gone it would say what the living say themselves.
  local isBetter = counter.vanished > 0 or (counter.reviewAt <= now and counter.remains > 0)
  return counter.known == 0 or (isBetter and isInLedger(counter.lingers, counter.review))
end

-- Returns its ceiling, what others have, the fair share, whether the ledger is needed, whether it was taken over.
local function claim(counter, one, isSettled, fence)
  expire(counter)
  local wasTakenOver, own = false, counter.own
  local lastTurn = own and own[4] or counter.gone and counter.gone[2] or 0
  if turn > lastTurn then
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
    if own then count(counter, own, -1) end
    local used = one.used - one.settled + settled
    local mayLease = counter.known == 1 and isSettled
    local free = mayLease and one.limit - counter.ceilings - counter.remains - used or 0
    if mayLease and one.need > free then counter.refusedAt = now end
    local more = free < one.need and 0 or math.max(one.need, math.min(one.want, math.floor(free / 2)))
    own = { settled, used + more, now + leaseMs, turn, takenOverAt }
    count(counter, own, 1)
    save(counter, 'h:' .. holder, cmsgpack.pack(own))
    redis.call('ZADD', counter.index, now + leaseMs, 'h:' .. holder)
  else
    save(counter)
  end
  local ceiling, fair = own and own[2] or 0, one.limit
  if counter.refusedAt + CONTENDED_MS > now then fair = math.floor(one.limit / math.max(1, counter.holders)) end
  return { own and ceiling or one.used, counter.ceilings + counter.remains - ceiling, fair,
    needsLedger(counter) and 1 or 0, wasTakenOver and 1 or 0 }
end

local function claims()
  local all = {}
  while place < #ARGV do
    all[#all + 1] = {
      name = word(), period = word(), limit = number(), used = number(), settled = number(), need = number(),
      want = number(), lingers = numberOr(word(), NEVER), review = numberOr(word(), NEVER), fence = number(),
    }
  end
  return all
end

function operations.claim()
  holder, turn = word(), number()
  local all, knownFence = claims(), 0
  for _, one in ipairs(all) do knownFence = math.max(knownFence, one.fence) end
  local settles = settlesIn(knownFence)
  redis.call('ZADD', prefix .. 'heard', now, holder)
  redis.call('ZREMRANGEBYSCORE', prefix .. 'heard', '-inf', '(' .. text(now - leaseMs))
  local answer = { text(settles), text(redis.call('ZCARD', prefix .. 'heard')) }
  for _, one in ipairs(all) do
    local fence = nextFence()
    local counter = open(one.name, one.period) or make(one.name, one.period, one.lingers, one.review)
    -- Nothing more of a period that is long over.
    local granted = counter and claim(counter, one, settles == 0, fence) or { one.used, 0, one.limit, 0, 0 }
    answer[#answer + 1] = text(fence)
    for _, value in ipairs(granted) do answer[#answer + 1] = text(value) end
  end
  redis.call('SET', prefix .. 'fence', text(lastFence))
  return answer
end

function operations.leave()
  holder, turn = word(), number()
  for _, one in ipairs(claims()) do
    local counter = open(one.name, one.period)
    if counter then
      expire(counter)
      if counter.own and turn > counter.own[4] then
        dropHolding(counter, holder, counter.own)
        counter.changedAt = now
        keep(counter, one.used, now + counter.lingers)
      end
      local isEmpty = counter.holders == 0 and counter.remains == 0
      if isEmpty and not isInLedger(counter.lingers, counter.review) then
        redis.call('DEL', counter.key, counter.index)
      else
        save(counter)
      end
    end
  end
  return 'OK'
end

function operations.restoring()
  holder, turn = word(), number()
  local settles, answer = settlesIn(0), {}
  while place < #ARGV do
    local counter = open(word(), word())
    local isFree = counter and counter.xExpires <= now and settles == 0
    if isFree then
      expire(counter)
      counter.xFence, counter.xExpires = nextFence(), now + leaseMs
      counter.xSettled, counter.xAt, counter.xLast = counter.settled, now, counter.lastRemains
      save(counter)
    end
    answer[#answer + 1] = isFree and text(counter.xFence) or ''
  end
  redis.call('SET', prefix .. 'fence', text(lastFence))
  return answer
end

function operations.restored()
  holder, turn = word(), number()
  local answer = {}
  while place < #ARGV do
    local counter, fence, spent = open(word(), word()), number(), number()
    local isTaken = counter and counter.xFence == fence and counter.xExpires > now
    if isTaken then
      expire(counter)
      -- The ledger replaces what was there when it was asked. Of a window that rolls, what somebody used who is gone counts
      -- no longer than before: the ledger only knows better how much.
      local latest = now + counter.lingers
      local untilMs = (counter.known == 0 or counter.lingers == NEVER) and latest or 0
      for at = counter.firstRemains, counter.xLast do
        local id = 'r:' .. text(at)
        if untilMs < latest then untilMs = math.max(untilMs, numberOr(redis.call('ZSCORE', counter.index, id), 0)) end
        dropRemains(counter, id)
      end
      counter.firstRemains = counter.xLast + 1
      keep(counter, math.max(0, spent - counter.xSettled), untilMs)
      local isExact = counter.changedAt + leaseMs <= counter.xAt
      counter.reviewAt = now + (isExact and counter.review or math.min(counter.review, REVIEW_LEASES * leaseMs))
      counter.known, counter.restoredFence, counter.xFence, counter.xExpires = 1, fence, 0, 0
      save(counter)
    end
    answer[#answer + 1] = isTaken and '1' or '0'
  end
  return answer
end

return operations[ARGV[1]]()
