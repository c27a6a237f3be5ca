// Prepares a call for answering: decodes the request, resolves its references, checks limits, sets time limits and
// plans the endpoints. Nothing is sent from here.
export { allow, admit, type Admitted, decodeCall } from './admit.ts';
export { refuseObjects, type TurnInput } from './hydrate.ts';
export { withoutStreamOptions } from './ignored-stream-options.ts';
export { outputOf, previousItems } from './previous-items.ts';
export { namesPrompt, promptedBody } from './prompt.ts';
export { planFor, type Planned, routeRequest } from './planned.ts';
export { storedTurn } from './thread.ts';
