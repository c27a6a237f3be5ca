// From a call to what can be answered: the request decoded, with everything that it refers to, allowed, within its limits
// of time, and with the plan of whom to ask. Nothing is sent from here.
export { allow, admit, type Admitted, decodeCall } from './admit.ts';
export { refuseObjects, type TurnInput } from './hydrate.ts';
export { withoutStreamOptions } from './ignored-stream-options.ts';
export { outputOf, previousItems } from './previous-items.ts';
export { namesPrompt, promptedBody } from './prompt.ts';
export { planFor, type Planned, routeRequest } from './planned.ts';
export { storedTurn } from './thread.ts';
