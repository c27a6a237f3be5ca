// Requirements on the shape of answers: what strict clients, schemas and libraries take.
import { golden, shown, type Requirements } from './requirement.ts';

const OPENROUTER = 'AI SDK provider and SDK of OpenRouter';
const OPEN_RESPONSES = 'Open Responses, 2026-04-24';

export const shapeRequirements: Requirements = {
  'contract.cost': shown(
    OPENROUTER,
    'A cost that nobody knows is absent in answers and null in records.',
    'test/socket/protocols/embeddings.test.ts: an unknown price is no price',
    'test/clients/sdk/ai-sdk-providers.test.ts: a task with tools over two turns',
  ),
  'contract.openrouter': shown(
    OPENROUTER,
    'Its SDK takes whole and streamed responses from every kind of upstream.',
    'test/clients/sdk/openrouter.test.ts: answers whole, over two turns',
    'test/clients/sdk/openrouter.test.ts: streams events that the SDK knows, each of them',
  ),
  'contract.tasks': shown(
    'README.md of the folders that people extend',
    'A kind of request is one folder and one line: limits, failover, records, metrics, descriptions and explanations hold for it.',
    'test/socket/server/every-task.test.ts: is recorded with its cost and its payloads, and sent again',
    'test/socket/server/every-task.test.ts: is counted by limits and budgets',
    'test/socket/server/every-task.test.ts: is answered once under an idempotency key',
    'test/socket/server/every-task.test.ts: has a metric, and a route that is explained',
    'test/extending/task.test.ts: a request of a new task fails over, is recorded, and costs what its upstream counted',
    'test/extending/task.test.ts: it is counted by limits and budgets',
    'test/extending/task.test.ts: it is answered once under an idempotency key',
    'test/extending/task.test.ts: it has a metric, a description, a list of models and an explanation',
    'test/extending/task.test.ts: a model that makes something else refuses it, and one that makes it refuses text',
    'test/socket/operations/doctor.test.ts: a model that does another task is asked for it once',
    'test/repository/tasks-alone.test.ts: no file but its own and data names embeddings',
  ),
  'contract.extending': shown(
    'README.md of the folders that people extend',
    'A protocol or a provider takes one folder and one line; a routing factor its word, one file and one line.',
    'test/extending/extending.test.ts: a client and an upstream of a new protocol understand each other',
    'test/extending/extending.test.ts: clients of the other protocols reach its upstream, and its clients reach theirs',
    'test/extending/extending.test.ts: it is known by its bodies, its headers and its name, and fails in its own words',
    'test/extending/extending.test.ts: a new routing factor puts endpoints in order',
  ),
  'contract.last-item': shown(
    'clients of the Responses API that take the last item of the output for the answer',
    'An output does not end with reasoning of which nothing is shown.',
    golden('openai-responses/encode-stream/signed-behind-its-last-word'),
    golden('openai-responses/encode-response/signed-behind-its-last-word'),
    golden('openai-responses/encode-stream/signed-behind-its-last-word-and-included'),
  ),
  'contract.penalties': shown(
    OPEN_RESPONSES,
    'Every response object says its penalties, and upstreams that know them get them.',
    'test/socket/protocols/responses/responses-penalties.test.ts: are repeated, with 0 where nothing was said',
    'test/socket/protocols/responses/responses-penalties.test.ts: reach an upstream that knows them',
  ),
  'contract.responses-schemas': shown(
    OPEN_RESPONSES,
    'Response objects and their events fit the schemas of OpenAI and of Open Responses.',
    'test/unit/protocols/responses-server-codec.test.ts: any answer is a legal stream, and the same as the whole answer',
  ),
  'contract.strict-members': shown(
    'types of the official SDKs of OpenAI and Anthropic',
    'Answers have every member that the newest schema demands, null where nothing is known.',
    'test/socket/protocols/strict-members.test.ts: a whole message has them all',
    'test/socket/protocols/strict-members.test.ts: so have the events of a stream',
    'test/socket/protocols/strict-members.test.ts: a whole response has them all',
    'test/socket/protocols/strict-members.test.ts: so has each response in the events of a stream',
    'test/socket/protocols/strict-members.test.ts: so have the models that clients of Messages list',
  ),
  'contract.strict-libraries': shown(
    'official libraries of OpenAI, Anthropic and Google for Go and Java, with their validation on',
    'Whole and streamed answers from every kind of upstream pass strictly typed libraries, and their calls come back.',
    'test/clients/sdk/go.test.ts: the official libraries for Go',
    'test/clients/sdk/java.test.ts: the official libraries for Java',
  ),
  'contract.every-upstream': shown(
    'contract with users',
    'Every client library reads whole and streamed answers of every protocol that upstreams speak, Converse included.',
    'test/clients/sdk/ai-sdk.test.ts: answers and counts',
    'test/clients/sdk/langchain.test.ts: calls tools over two turns',
    'test/clients/sdk/langchain-anthropic.test.ts: calls tools over two turns',
    'test/clients/sdk/openai-agents.test.ts: two tools in turn, then another question',
    'test/clients/sdk/openrouter.test.ts: streams reasoning, calls and text over two turns',
    'test/clients/sdk/gemini-sdk.test.ts: calls a function and takes its result',
    'test/clients/sdk/messages-sdk.test.ts: thinks, calls a tool, and goes on from both in the next turn',
    'test/clients/sdk/responses-sdk.test.ts: streams the same answer in a legal order',
  ),
  'contract.orphans': shown(
    'OpenAI API: Responses',
    'An output whose call is nowhere is a 400, and a connection forgets what it went on from.',
    'test/socket/protocols/responses/responses-outputs.test.ts: is refused: ',
    'test/socket/protocols/responses/responses-outputs.test.ts: makes a connection forget what it went on from',
  ),
  'contract.empty-answers': shown(
    'contract with users',
    'An answer that was charged and says nothing goes to the next endpoint; an only one is told as it is.',
    'test/socket/engine/empty-answers.test.ts: the next endpoint is asked, and the record says so',
    'test/socket/engine/empty-answers.test.ts: an only one is told as it is',
    'test/socket/engine/empty-answers.test.ts: an empty answer that has its reason is the answer',
  ),
  'contract.summaries': shown(
    'OpenAI API: reasoning summaries',
    'Who asks for a summary reads the reasoning of any family as one, and gives it back as it came.',
    'test/socket/protocols/responses/responses-summaries.test.ts: a summary is one, whole and streamed',
    'test/socket/protocols/responses/responses-summaries.test.ts: comes back as it was, in items and by the id of the response',
    'test/socket/protocols/responses/responses-summaries.test.ts: a plain chain that was shown as a summary goes back to its model as the chain',
    golden('openai-responses/encode-stream/summary-behind-a-chain'),
  ),
  'contract.hosted-members': shown(
    'schemas `CodeInterpreterToolCall`, `FileSearchToolCall`, `ImageGenToolCall` of OpenAI',
    'Items of hosted tools have the members that the API demands, null where nothing is known.',
    'test/unit/protocols/responses-server-codec.test.ts: items of hosted tools keep what the API demands',
  ),
};
