// Facts of a request for the choice of a model, gathered in one pass. Knows no model.
import type { CanonicalRequest, Item, Part, ReasoningRequest } from '../../canonical/index.ts';

export type Modality = 'image' | 'file' | 'audio';

export interface RequestFacts {
  /** Characters of the prompt, without the bytes of images, files and audio. */
  readonly characters: number;
  /** A rough count of the prompt's tokens. */
  readonly promptTokens: number;
  /** Kinds of content in the prompt besides text. */
  readonly modalities: ReadonlySet<Modality>;
  /** Messages of the user. */
  readonly turns: number;
  readonly tools: number;
  /** Whether a tool has been used already. */
  readonly toolResults: boolean;
  readonly customTools: boolean;
  /** How much reasoning is asked for, explicitly. */
  readonly reasoning: 'none' | 'some' | 'much';
  readonly format: 'text' | 'json_object' | 'json_schema';
  /** The user's last message. */
  readonly asked: string;
  /** Whether the user's messages hold a fenced block of code. */
  readonly code: boolean;
}

/** English text and JSON; other scripts have more bytes for a character, and characters are counted in bytes here. */
export const CHARACTERS_PER_TOKEN = 4;
/** Tokens that vendors charge for an image of usual size, within a factor of two. */
const TOKENS_PER_IMAGE = 1000;
/** From here a budget of reasoning tokens is a large one. */
const MUCH_REASONING_TOKENS = 8192;

/**
 * Gathers the facts.
 * @param inputChars size of the prompt as the caller knows it; may include encoded media, which is taken off
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
