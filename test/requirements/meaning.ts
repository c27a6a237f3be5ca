// What is said reaches who it is for: the conversation, in whatever dialect, and what was asked beside it.
import { shown, type Requirements } from './requirement.ts';

const CONTRACT = 'contract with users';
const FAMILIES = 'test/family-facts.test.ts';
const DIALECTS = 'test/client-dialects.test.ts';

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
};
