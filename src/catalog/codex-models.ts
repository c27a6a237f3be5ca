// List of models in Codex's form: the `models` of `GET /models?client_version=…`. Source: `ModelInfo` in
// codex-rs/protocol/src/openai_models.rs, read 2026-11.
import type { JsonObject } from '../base/json/index.ts';
import type { Model } from './endpoint.ts';

/** Input kinds that Codex knows. It rejects the whole list if it contains another. */
const MODALITIES: ReadonlySet<string> = new Set(['text', 'image']);
/** Efforts for models that document none. */
const USUAL_EFFORTS = ['low', 'medium', 'high'];
/** Maximum tokens of tool output, the same as Codex's default for unknown models. */
const OUTPUT_TOKENS = 10_000;

/**
 * Instructions that replace Codex's own; it rejects a list without any. They are short and suit every model that can
 * call tools.
 */
const INSTRUCTIONS = `You are a coding agent that works in a user's terminal through the tools of Codex.

- Look before you change anything: read the files that matter, and follow the AGENTS.md files whose folders you touch.
- Do the whole task. Run commands and change files yourself instead of telling the user how to; ask only if you cannot go on.
- Keep changes small and in the style of the code around them. Do not repair what you were not asked to repair: mention it.
- Check your work with the tests, builds or linters of the project, where there are any.
- Never undo changes that you did not make, and never run commands that destroy data unless the user asks for it.
- Say in one sentence what you are about to do before you call tools. In the end say briefly what you changed, where, and what remains open.`;

/** @param models in the order in which Codex offers them */
export function encodeCodexModels(models: readonly Model[]): readonly JsonObject[] {
  return models.map((model, index) => {
    const efforts = effortsOf(model);
    return {
      slug: model.id,
      display_name: model.displayName,
      description: null,
      default_reasoning_level: efforts.includes('medium') ? 'medium' : (efforts[0] ?? null),
      supported_reasoning_levels: efforts.map((effort) => ({ effort, description: `${effort} effort` })),
      shell_type: 'shell_command',
      visibility: 'list',
      supported_in_api: true,
      priority: index,
      availability_nux: null,
      upgrade: null,
      base_instructions: INSTRUCTIONS,
      support_verbosity: false,
      default_verbosity: null,
      apply_patch_tool_type: null,
      truncation_policy: { mode: 'tokens', limit: OUTPUT_TOKENS },
      supports_parallel_tool_calls: true,
      context_window: model.contextLength,
      experimental_supported_tools: [],
      input_modalities: model.inputModalities.filter((modality) => MODALITIES.has(modality)),
    };
  });
}

function effortsOf(model: Model): readonly string[] {
  if (model.reasoningStyle === 'none') return [];
  return model.endpoints[0]?.efforts ?? USUAL_EFFORTS;
}
