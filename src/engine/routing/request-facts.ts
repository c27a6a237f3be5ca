// Properties of a request for choosing a model, collected in one pass.
import type { CanonicalRequest, Item, Part, ReasoningRequest } from '../../canonical/index.ts';

export type Modality = 'image' | 'file' | 'audio';

export interface RequestFacts {
  /** Characters of the prompt, without the data of images, files and audio. */
  readonly characters: number;
  /** Estimated tokens of the prompt. */
  readonly promptTokens: number;
  /** Content types of the prompt other than text. */
  readonly modalities: ReadonlySet<Modality>;
  /** Number of user messages. */
  readonly turns: number;
  readonly tools: number;
  /** True: the conversation contains tool results. */
  readonly toolResults: boolean;
  readonly customTools: boolean;
  /** Amount of reasoning that the request asks for explicitly. */
  readonly reasoning: 'none' | 'some' | 'much';
  readonly format: 'text' | 'json_object' | 'json_schema';
  /** The user's last message. */
  readonly asked: string;
  /** True: a user message contains a fenced code block. */
  readonly code: boolean;
}

/** For English text and JSON. Other scripts have more bytes per character, and characters are counted in bytes here. */
export const CHARACTERS_PER_TOKEN = 4;
/** Tokens that vendors charge for an image of typical size, within a factor of two. */
const TOKENS_PER_IMAGE = 1000;
/** Minimum reasoning budget that counts as large. */
const MUCH_REASONING_TOKENS = 8192;

/**
 * Collects the properties.
 * @param inputChars size of the prompt, possibly including encoded media, which is subtracted
 */
export function requestFacts(request: CanonicalRequest, inputChars: number): RequestFacts {
  const modalities = new Set<Modality>();
  let text = 0;
  let media = 0;
  let images = 0;
  let turns = 0;
  let toolResults = false;
  let code = false;
  let asked = '';
  for (const item of request.items) {
    if (item.type === 'tool_call') text += item.arguments.length;
    if (item.type === 'tool_result') toolResults = true;
    const isUser = item.type === 'message' && item.role === 'user';
    if (isUser) {
      turns++;
      asked = '';
    }
    for (const part of partsOf(item)) {
      switch (part.type) {
        case 'text':
          text += part.text.length;
          if (isUser) asked = asked === '' ? part.text : `${asked}\n${part.text}`;
          code ||= isUser && part.text.includes('```');
          break;
        case 'image':
        case 'file':
          modalities.add(part.type);
          if (part.type === 'image') images++;
          if (part.media.kind === 'base64') media += part.media.data.length;
          break;
        case 'audio':
          modalities.add(part.type);
          media += part.data.length;
          break;
        case 'refusal':
        case 'unknown':
          break;
      }
    }
  }
  const characters = Math.max(text, inputChars - media);
  return {
    characters,
    promptTokens: Math.ceil(characters / CHARACTERS_PER_TOKEN) + images * TOKENS_PER_IMAGE,
    modalities,
    turns,
    tools: request.tools.length,
    toolResults,
    customTools: request.tools.some((tool) => tool.type === 'custom'),
    reasoning: askedReasoning(request.reasoning),
    format: request.responseFormat?.type ?? 'text',
    asked,
    code,
  };
}

function partsOf(item: Item): readonly Part[] {
  return item.type === 'message' || item.type === 'tool_result' ? item.parts : [];
}

function askedReasoning({ enabled, effort, maxTokens }: ReasoningRequest): RequestFacts['reasoning'] {
  if (enabled === false || effort === 'none') return 'none';
  if (effort === 'high' || effort === 'xhigh' || effort === 'max') return 'much';
  if (maxTokens !== undefined && maxTokens >= MUCH_REASONING_TOKENS) return 'much';
  return enabled === true || effort !== undefined || maxTokens !== undefined ? 'some' : 'none';
}
