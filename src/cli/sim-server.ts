// The simulated provider on a socket of its own, and as the catalog sees it.
import type { BuiltIn } from '../catalog/index.ts';
import { createSim, findSimModel, simModels, simPreset } from '../providers/sim/index.ts';
import { listen, type Listener } from '../runtime/http-server.ts';

/** Serves the simulated provider. Loopback only, unless the operator asks for more. */
export function listenSim(hostname: string, port: number): Listener {
  const simulated = createSim();
  return listen({
    hostname,
    port,
    maxBodyBytes: 256 * 1024 * 1024,
    hot: {},
    fallback: (request, patient) => {
      patient();
      return simulated.fetch(request);
    },
  });
}

/** What the catalog lists of it. @param origin `http://host:port` of its socket */
export function simBuiltIn(origin: string): BuiltIn {
  return { preset: simPreset(origin), models: simModels, find: findSimModel };
}
