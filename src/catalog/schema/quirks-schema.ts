// Schema of configured quirks: the flags of `catalog/providers/provider.ts` in the file's spelling.
import { z } from 'zod';
import type { Quirks } from '../../canonical/index.ts';

type QuirkValue = z.ZodEnum | z.ZodBoolean;

/** One entry per flag. The type requires all of them. */
const QUIRKS: { readonly [K in keyof Quirks]: QuirkValue } = {
  maxTokensField: z
    .enum(['max_completion_tokens', 'max_tokens', 'as_written'])
    .describe(
      'Name of the output limit. `as_written`: the name in the request, and `max_tokens` from other protocols; so without a preset.',
    ),
  smallLimits: z
    .boolean()
    .describe('Responses: output limits below 16 tokens are accepted; so without a preset.'),
  namesCutAnswers: z
    .boolean()
    .describe(
      'Responses: `false` where the server says `completed` of an answer that its output limit cut: the count of tokens tells then.',
    ),
  systemRole: z.enum(['system', 'developer', 'keep']).describe('Role that carries instructions.'),
  laterInstructions: z
    .boolean()
    .describe('Messages: instructions may stand inside the conversation, as a message of role `system`.'),
  mergeSystem: z.boolean().describe('Only one system message, the first, is accepted.'),
  reasoningField: z
    .enum(['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'chat_template_kwargs', 'none'])
    .describe('Where the reasoning switch goes.'),
  reasoningReplay: z
    .enum(['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_parts', 'none'])
    .describe('Member in which earlier reasoning is given back.'),
  streamUsage: z
    .enum(['include_usage', 'always'])
    .describe('Whether token counts of a stream must be asked for.'),
  structuredOutput: z
    .enum(['json_schema', 'json_object', 'none'])
    .describe('Best answer format the server enforces.'),
  strictTools: z.boolean().describe('`strict` on function tools is understood.'),
  customTools: z
    .boolean()
    .describe(
      'Custom (free-form) tools are understood. Without a preset: only where the server is said to be `faithful`.',
    ),
  messageName: z.boolean().describe('`name` on messages is accepted.'),
  textContent: z.enum(['parts', 'string']).describe('Form of text content.'),
  requiredToolChoice: z.enum(['required', 'any']).describe('Word that forces some tool.'),
  namedToolChoice: z.boolean().describe('A named tool can be forced.'),
  toolCallId: z.enum(['any', 'alphanumeric-9']).describe('Form of call ids.'),
  cacheControl: z
    .boolean()
    .describe('Prompt-cache breakpoints are understood (Chat Completions: `cache_control`).'),
  vectors: z.enum(['float', 'base64_int8', 'output_dtype']).describe('Vectors: words for their elements.'),
  unknownFields: z.enum(['pass', 'drop']).describe('What to do with members the protocol does not know.'),
  adjacentRoles: z.enum(['keep', 'merge']).describe('Whether adjacent messages of one role must be joined.'),
  exclusiveReasoning: z
    .boolean()
    .describe('Reasoning excludes sampling parameters, forced tools and prefills.'),
  forcedThinking: z
    .boolean()
    .describe(
      'With `exclusive_reasoning`: a model that decides how much to think may be forced to call a tool.',
    ),
  pairedSampling: z
    .boolean()
    .describe('Messages and Converse: `temperature` and `top_p` may stand in one request.'),
  assistantFirst: z
    .boolean()
    .describe('Messages and Converse: a conversation may begin with a message of the assistant.'),
  fetchesUrls: z
    .boolean()
    .describe(
      'Addresses of images and files are fetched by the server, as far as its protocol has that. Where no vendor runs the server: only if you say so.',
    ),
  readsFiles: z
    .boolean()
    .describe('Files are read by the server; otherwise PDFs and texts are sent as text.'),
  prefill: z
    .enum(['none', 'plain', 'prefix', 'partial', 'continue_final_message'])
    .describe('How the model is told to continue a last message of the assistant.'),
  searchesWeb: z.boolean().describe('The server searches the web itself when it is asked to.'),
  runsMcp: z
    .boolean()
    .describe(
      'The server itself calls MCP servers that requests name. Where no vendor runs the server: only if you say so.',
    ),
};

const shape: Record<string, z.ZodOptional<QuirkValue>> = {};
const names = new Map<string, keyof Quirks>();
for (const name of Object.keys(QUIRKS) as (keyof Quirks)[]) {
  const inFile = inFileName(name);
  names.set(inFile, name);
  shape[inFile] = QUIRKS[name].optional();
}

export const quirksSchema = z
  .strictObject(shape)
  .transform(toQuirks)
  .describe('How the server departs from the protocol, over the preset.');

/** Converts validated quirks from the file's spelling. */
function toQuirks(given: Readonly<Record<string, unknown>>): Partial<Quirks> {
  const quirks: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const known = names.get(name);
    if (known && value !== undefined) quirks[known] = value;
  }
  return quirks as Partial<Quirks>;
}

/** Quirks in the file's spelling, as `parseQuirks` reads them. */
export function formatQuirks(quirks: Partial<Quirks>): Record<string, string | boolean> {
  return Object.fromEntries(Object.entries(quirks).map(([name, value]) => [inFileName(name), value]));
}

/** Parses quirks in the file's spelling; null for invalid values. */
export function parseQuirks(value: unknown): Partial<Quirks> | null {
  const parsed = quirksSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

function inFileName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
