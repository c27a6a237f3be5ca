// What is said reaches who it is for: the conversation, in whatever dialect, and what was asked beside it.
import { shown, type Requirements } from './requirement.ts';

const CONTRACT = 'contract with users';
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
};
