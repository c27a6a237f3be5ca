// Requirements on conversations that the gateway holds, and on the words and ids by which clients know them.
import { shown, type Requirements } from './requirement.ts';

const THREADS = 'test/socket/state/threads.test.ts';
const PYTHON = 'test/clients/sdk/python.test.ts: %s';

export const conversationRequirements: Requirements = {
  'contract.threads': shown(
    'Anthropic, "Message threads", and the helpers of its SDKs, 2026-11',
    'A thread that a client continues with its new messages alone reaches every upstream whole.',
    `${THREADS}: over %s, streamed: %p`,
    `${THREADS}: each turn is asked with all that was said before`,
    `${THREADS}: an unknown id is told so that the SDK sends all of it again, for whoever asks`,
    `${THREADS}: what the thread keeps may be repeated, not changed`,
    `${THREADS}: the answer that a request is compared with has its upstream’s own name, for its project alone`,
    `${THREADS}: a thread lives as long as a stored response, also over a restart`,
    PYTHON,
  ),
  'contract.errors.details': shown(
    'Anthropic SDK, `error.details`, 2026-11',
    'Details of an error by which SDKs recover are kept where it is translated.',
    `${THREADS}: details of an upstream’s error are kept where it is translated`,
  ),
  'contract.errors.words': shown(
    'recorded errors of OpenAI, Anthropic and Google, and their pages on errors',
    'Every error has the type, code, status and `param` of the vendor whose protocol the client speaks.',
    'test/socket/server/error-table.test.ts: %s in the words of %s',
    'test/socket/server/error-table.test.ts: nothing there: %s',
    'test/socket/server/error-table.test.ts: refused: %s',
  ),
  'contract.same-prefix': shown(
    'prompt caches of vendors, which read a request from its beginning',
    'What goes up in a turn of a conversation begins with what went up in the turn before, item by item.',
    'test/socket/engine/same-prefix.test.ts: over %s',
    'test/socket/engine/same-prefix.test.ts: items that no client named go up unnamed: %s',
  ),
  'contract.ids.prefixes': shown(
    'OpenAI and Anthropic API references',
    'Ids begin as clients of their protocol know them, and each of them finds its generation.',
    'test/socket/server/id-prefixes.test.ts: files',
  ),
};
