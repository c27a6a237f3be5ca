// The simulated provider on a socket of its own, and as the catalog sees it.
import type { BuiltIn } from '../../catalog/index.ts';
import { createSim, findSimModel, simEmbeddings, simModels, simPreset } from '../../providers/sim/index.ts';
import type { Listener } from '../../runtime/http-server.ts';
import { listenOrExplain } from '../listen-or-explain.ts';

/** Serves the simulated provider. Loopback only, unless the operator asks for more. Throws GatewayError when it cannot listen. */
export function listenSim(hostname: string, port: number): Listener {
  const simulated = createSim();
  return listenOrExplain({
    hostname,
    port,
    maxBodyBytes: 256 * 1024 * 1024,
    hot: {},
    fallback: (request, connection) => {
      connection.patient();
      return simulated.fetch(request);
    },
  });
}

/** What the catalog lists of it. @param origin `http://host:port` of its socket */
export function simBuiltIn(origin: string): BuiltIn {
  return { preset: simPreset(origin), models: [...simModels, ...simEmbeddings], find: findSimModel };
}
