// Routing: the endpoint that is asked, its protocol, and what refusals teach. Seen from outside by programs of others.
import { type Requirements, shown } from './requirement.ts';

const SOURCE = 'what programs from outside found, routing';
const SCENES = 'test/scenarios/routing/routing-refusals.test.ts';

export const routingRequirements: Requirements = {
  'contract.routing.1': shown(
    SOURCE,
    "An upstream is spoken to in the client's own protocol where it serves the model in it as well.",
    'test/scenarios/routing/routing-protocol.test.ts: a client of',
  ),
  'contract.routing.2': shown(
    SOURCE,
    'An endpoint without a name can be named by what its provider calls the model.',
    `${SCENES}: an endpoint without a name`,
  ),
  'contract.routing.3': shown(
    SOURCE,
    'A model of a provider that is off says what switches it on.',
    `${SCENES}: a model of a provider that is off`,
  ),
  'contract.routing.4': shown(
    SOURCE,
    'A refusal as too long shows that a declared context is wrong: others that should hold the request are asked, and it is remembered.',
    `${SCENES}: is followed by others that should hold it`,
    `${SCENES}: is known for it afterwards`,
  ),
  'contract.routing.5': shown(
    SOURCE,
    'An endpoint that is too fast to be measured counts as at least that fast.',
    'test/unit/engine/routing-state.test.ts: is at least what',
  ),
  'contract.routing.6': shown(
    SOURCE,
    'A short pause that an endpoint asks for is waited for where the operator wants that.',
    `${SCENES}: is waited for where the operator wants that`,
  ),
  'contract.routing.9': shown(
    SOURCE,
    'Every time that an upstream may have received a request is an attempt in the records.',
    'test/scenarios/streams/stale-connection.test.ts: is asked for once more',
  ),
  'contract.routing.7': shown(
    SOURCE,
    'How demanding a request is follows from what it asks for.',
    'test/unit/engine/routing-complexity.test.ts: sixty prompts',
  ),
  'contract.routing.8': shown(
    SOURCE,
    'An explained choice among models is a table of models and one of endpoints.',
    'test/unit/app/cli/commands/route-text.test.ts: models that were weighed',
  ),
};
