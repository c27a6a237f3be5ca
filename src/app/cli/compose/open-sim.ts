// The simulated provider, which runs beside the gateway unless the configuration disables it.
import type { Config, SnapshotInput } from '../../config/index.ts';
import { listenSim, simBuiltIn } from '../commands/sim-server.ts';
import type { Part } from './part.ts';

/** The part and its catalog entry. Null: none. Throws GatewayError when it cannot listen. */
export function openSim({ providers }: Config): Part & { readonly builtIn: SnapshotInput['sim'] } {
  if (providers['sim'] === false) return { builtIn: null };
  const listener = listenSim('127.0.0.1', 0);
  return {
    builtIn: simBuiltIn(`http://127.0.0.1:${listener.port}`),
    stop: () => listener.stop(),
  };
}
