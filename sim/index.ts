// The built-in simulated provider: deterministic models with strict wire formats of OpenAI, Anthropic and Google, and
// faults on request. Code outside this folder must not depend on its internals.
export { taskModels } from './task-models.ts';
export { createSim } from './sim.ts';
export { findSimModel, simMisbehaviours, simModels } from './models.ts';
