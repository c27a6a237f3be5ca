// What an endpoint lacks and the gateway supplies: structured output, grammars, stop sequences, truncation, the policy of
// reasoning and its seal.
export { adaptRequest, lackingParameters } from './adapt.ts';
export { type AnswerCheck, judge, nameUpstream } from './answer-check.ts';
export { customToolNames, CustomToolRestorer } from './custom-tool-restorer.ts';
export { checkGrammars } from './grammar-check.ts';
export { resolveReasoning } from './reasoning-policy.ts';
export { ReasoningSeal } from './reasoning-seal.ts';
export { ReasoningStamp } from './reasoning-stamp.ts';
export { prepareSchema } from './schema-check.ts';
export { SingleCall } from './single-call.ts';
export { StopCutter } from './stop-cutter.ts';
export { checkFormat, schemaToPrepare } from './structured-output.ts';
export { overlong, truncate } from './truncate.ts';
