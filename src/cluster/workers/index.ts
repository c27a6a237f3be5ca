// Several worker processes on one port, to use all cores of a machine.
export { answerAnswers, SupervisorAnswerStore } from './answers.ts';
export { SupervisorPubSub } from './pub-sub.ts';
export { counterAnswers, SupervisorCounterStore } from './counters.ts';
export { FailedStart, Supervisor } from './supervisor.ts';
export { Siblings } from './siblings.ts';
export type { Welcome } from './siblings.ts';
