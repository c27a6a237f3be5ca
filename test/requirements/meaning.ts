// Meaning is kept: the conversation, in whatever dialect, and the settings beside it reach the model.
import { shown, type Requirements } from './requirement.ts';

const CONTRACT = 'contract with users';
const FAMILIES = 'test/socket/engine/family-facts.test.ts';
const PUBLISHED = 'test/socket/protocols/told-in-words.test.ts';
const OWNERS = 'test/socket/engine/owners-tools.test.ts';
const SIGNATURES = 'test/socket/protocols/gemini/gemini-signatures.test.ts';
const UNKNOWN = 'test/socket/engine/unknown-models.test.ts';
const DIALECTS = 'test/socket/protocols/client-dialects.test.ts';

export const meaningRequirements: Requirements = {
  'contract.dialects': shown(
    CONTRACT,
    'Dialects of clients and servers are read, not judged, where their meaning is plain.',
    `${DIALECTS}: says \`any\` for a required call`,
    `${DIALECTS}: names a function without a type, in every protocol`,
    `${DIALECTS}: the effort \`default\` asks for reasoning`,
    `${DIALECTS}: need no ids: a result answers the first open call`,
    `${DIALECTS}: thinking among the parts of an answer is reasoning`,
    `${DIALECTS}: such thinking goes back to Mistral as it came`,
    `${DIALECTS}: calls with an empty \`custom\` beside their function`,
    `${DIALECTS}: a repeated identical \`message_start\` is one`,
    `${DIALECTS}: Groq's \`tool_use_failed\` is the client's`,
  ),
  'contract.told': shown(
    CONTRACT,
    'What is part of a conversation is carried, or told to the model in words, or refused by name; tools may go, with a report.',
    `${PUBLISHED}: has what nobody knows in a history told to the model`,
    `${PUBLISHED}: is refused an unknown part in the message of a person`,
    `${PUBLISHED}: has all of it carried to who defines the protocol`,
    `${PUBLISHED}: loses an unknown tool among others`,
    `${PUBLISHED}: is refused one that is alone, or forced`,
    `${PUBLISHED}: of Anthropic is told to others, without what is encrypted`,
    `${PUBLISHED}: is refused by name for %s`,
    `${PUBLISHED}: a picture of an earlier answer is told`,
  ),
  'contract.own-work': shown(
    CONTRACT,
    'Work of a tool that the gateway runs is items of the Responses API and blocks of Messages, whatever the tool is.',
    'test/extending/tool.test.ts: a Responses client sees its call and its result, streamed: %p',
    'test/extending/tool.test.ts: a Messages client sees them as two blocks, streamed: %p',
  ),
  'contract.owners-tools': shown(
    CONTRACT,
    'Tools that OpenAI runs itself pass to who owns or runs them, and their items come back whole.',
    `${OWNERS}: they pass, and their items come back whole, relayed`,
    `${OWNERS}: they pass, and their items come back whole, translated`,
    `${OWNERS}: they are reported, and the request works without them`,
    `${OWNERS}: one that is demanded is refused`,
  ),
  'contract.gemini-signatures': shown(
    CONTRACT,
    'Signatures of Gemini stay with the calls that they came with, and parts without data are nothing.',
    `${SIGNATURES}: comes back to calls without ids, in both lanes`,
    `${SIGNATURES}: does not come to a call of the same content in another conversation`,
    `${SIGNATURES}: words that a client puts before a call`,
    `${SIGNATURES}: a part without data is nothing`,
  ),
  'contract.unknown-models': shown(
    CONTRACT,
    'What a client says of reasoning in the protocol that the upstream defines passes, unless the catalog knows that it is refused.',
    `${UNKNOWN}: Responses: effort and encrypted content pass, in both lanes`,
    `${UNKNOWN}: Responses: a model that is known not to reason loses them with a report`,
    `${UNKNOWN}: Chat Completions: the effort passes`,
    `${UNKNOWN}: Messages: an effort, and every kind of thinking, pass`,
    `${UNKNOWN}: Gemini: a budget of nothing, and others, pass`,
  ),
  'contract.families': shown(
    CONTRACT,
    'What one generation of a model takes and the next refuses is a fact of its family.',
    `${FAMILIES}: before Opus 4.1 and Sonnet 4.5 takes \`top_p\` beside \`temperature\``,
    `${FAMILIES}: 4.6 thinks beside a forced tool`,
    `${FAMILIES}: takes a conversation that the assistant begins`,
    `${FAMILIES}: since GPT-5.2 take a temperature once they are told not to reason`,
    `${FAMILIES}: takes stop sequences in Chat Completions`,
  ),
  'contract.documents': shown(
    CONTRACT,
    'Documents of text reach Converse as documents, and refusals reach clients of Gemini as answers that were held back.',
    `${FAMILIES}: reaches Converse as a document`,
    `${FAMILIES}: reaches clients of Gemini as an answer that was held back`,
  ),
  'contract.counts': shown(
    CONTRACT,
    'The totals of an upstream hold; classes that contradict them are marked in the record, and never cut in silence.',
    'test/socket/engine/counted-as-charged.test.ts: more cached than prompt tokens are marked in the record',
    'test/socket/engine/counted-as-charged.test.ts: the totals of a Responses answer hold as well',
    'test/socket/engine/counted-as-charged.test.ts: counts that agree are not marked, and audio beside the prompt is input',
    'test/golden/openai-chat/decode-response/more-written-than-prompt.txt',
  ),
  'contract.source-addresses': shown(
    CONTRACT,
    'Addresses of sources are URIs in every protocol, whatever characters an upstream writes into them.',
    'test/socket/protocols/citation-addresses.test.ts: is a URI for a client of',
  ),
  'contract.catalog-refresh': shown(
    CONTRACT,
    'Newer prices and models are checked, put in force as one, kept, and named in records; broken ones are refused and told.',
    'test/socket/catalog/catalog-refresh.test.ts: an address, which may be private',
    'test/socket/catalog/catalog-refresh.test.ts: a request that runs keeps the prices',
    'test/unit/catalog/catalog-prices.test.ts: data is checked a little at a time',
    'test/socket/catalog/catalog-refresh.test.ts: a damaged file of what was kept is told',
    'test/socket/catalog/catalog-refresh.test.ts: a file is read again when it changes',
    'test/socket/catalog/catalog-refresh.test.ts: what is broken is refused and told, and what was known stays',
    'test/socket/catalog/catalog-refresh.test.ts: `models --diff` shows what would change',
    'test/socket/catalog/catalog-refresh.test.ts: `check` tells of a file that cannot be used',
  ),
  'contract.prices-stay': shown(
    CONTRACT,
    'No price becomes 0, unknown or gone because a source forgot it: what was known stays, and is marked.',
    'test/unit/catalog/catalog-prices.test.ts: %s keeps what was known, and marks it',
    'test/unit/catalog/catalog-prices.test.ts: the vendor, twice, and after a restart',
    'test/unit/catalog/catalog-prices.test.ts: a name finds the model and the prices that the library itself finds',
    'test/unit/catalog/catalog-prices.test.ts: %s is refused',
  ),
};
