// Shapes of the nodes in a Messages request: the members with a canonical form. The decoder reports all others;
// upstreams of this protocol get them with the raw form of the node.
import { asObject, asString, isJsonObject } from '../../base/json/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import { members, rewritten, type MemberShape } from '../members/member-shape.ts';
import { clientToolForm } from './requests/client-tools.ts';

const SOURCE = members('type media_type data url file_id content');
const IMAGE = members('type source cache_control', { source: SOURCE });
const DOCUMENT = members('type source title context cache_control', { source: SOURCE });
/** Document without citations. Disabled citations count as absent. */
const UNCITED_DOCUMENT = members('type source title context cache_control citations', { source: SOURCE });
const FOUND = members('type source title content cache_control');
const UNCITED_FOUND = members('type source title content cache_control citations');
const CALL = members('type id name input cache_control');
/** Call by the model itself, as in every other protocol. */
const DIRECT_CALL = members('type id name input cache_control caller');
const RESULT = members('type tool_use_id content is_error cache_control', { content: blockShape });
const TEXT = members('type text cache_control citations');
/** Text without members that only Anthropic knows. */
export const PLAIN_TEXT = members('type text cache_control');
/** Call in an answer, as far as the canonical item holds it. */
export const ANSWERED_CALL = members('type id name input');
/** Location of a user (SDK type `UserLocation`, 2026-11). */
export const LOCATION = members('type city region country timezone');

/** Returns the shape of a block by its type. Other types have only a raw form. */
function blockShape(block: JsonObject): MemberShape | undefined {
  const { citations } = block;
  const isUncited = isJsonObject(citations) && citations['enabled'] !== true;
  switch (block['type']) {
    case 'text':
      return TEXT;
    case 'image':
      return IMAGE;
    case 'document':
      return isUncited ? UNCITED_DOCUMENT : DOCUMENT;
    case 'search_result':
      return isUncited ? UNCITED_FOUND : FOUND;
    case 'tool_use':
      return asObject(block['caller'])['type'] === 'direct' ? DIRECT_CALL : CALL;
    case 'tool_result':
      return RESULT;
    case 'thinking':
      return THINKING_BLOCK;
    case 'redacted_thinking':
      return REDACTED;
    default:
      return undefined;
  }
}
const THINKING_BLOCK = members('type thinking signature');
const REDACTED = members('type data');

/** `eager_input_streaming` changes only how arguments are delivered. */
const OWN_TOOL = 'type name description input_schema strict cache_control eager_input_streaming';
const TOOL = members(OWN_TOOL);
/** Members of Anthropic's client tools that the replacing function covers, or that concern only the client. */
const CLIENT_TOOL = members(
  `${OWN_TOOL} display_width_px display_height_px display_number enable_zoom max_characters`,
);

function toolShape(tool: JsonObject): MemberShape | undefined {
  const type = asString(tool['type']) ?? 'custom';
  if (type === 'custom') return TOOL;
  return clientToolForm(type, tool) ? CLIENT_TOOL : undefined;
}

export const THINKING_SHAPE = members('type budget_tokens display');

/** Body of a request, below its top level. Messages are rewritten from the canonical turns. */
export const REQUEST_SHAPE = members('', {
  system: blockShape,
  messages: rewritten('role content', { content: blockShape }),
  tools: toolShape,
  tool_choice: rewritten('type name disable_parallel_tool_use'),
  thinking: THINKING_SHAPE,
  output_config: members('effort format', { format: rewritten('type schema') }),
});
