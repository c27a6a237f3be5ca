// The built-in simulated provider: deterministic models that speak the wire formats of OpenAI, Anthropic and Google,
// strictly, and misbehave on request. Nothing outside this folder may depend on how.
export { taskModels } from './task-models.ts';
export { createSim } from './sim.ts';
export { findSimModel, simMisbehaviours, simModels } from './models.ts';
