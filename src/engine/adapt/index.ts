// Features that an endpoint lacks and the gateway supplies: structured output, grammars, stop sequences, truncation,
// reasoning policy and reasoning seals.
export { adaptRequest, lackingParameters } from './adapt.ts';
export { type AnswerCheck, nameUpstream, validateAnswer } from './answer-check.ts';
export {
  LimitWatch,
  UnwantedReasoningWatch,
  type WatchedLimit,
  cutHiddenEnd,
  mayHideEnd,
  withoutHiddenEnd,
  customToolNames,
  CustomToolRestorer,
  SingleCall,
} from './answer-sinks.ts';
export { checkGrammars } from './grammar-check.ts';
export { reasoningPath, resolveReasoning, ReasoningStamp } from './reasoning-policy.ts';
export { ReasoningSeal } from './reasoning-seal.ts';
export { prepareSchema } from './schema-check.ts';
export { StopCutter } from './stop-cutter.ts';
export { checkFormat, schemaToPrepare } from './structured-output.ts';
export { overlong, truncate } from './truncate.ts';
