// Adapts a request to one endpoint: removes and reports the parameters that the endpoint does not accept, so that no
// codec has to check. Also says which features the gateway must supply itself.
import type { Endpoint } from '../../catalog/index.ts';
import type { CanonicalRequest, Parameter, Report } from '../../canonical/index.ts';
import { isNeutral, PARAMETERS } from '../../canonical/index.ts';
import { findProtocol, type Protocol } from '../../protocols/index.ts';
import { preparedEndpoint } from '../prepared-endpoint.ts';

export interface AdaptedRequest {
  readonly request: CanonicalRequest;
  /** Stop sequences that the upstream does not accept. The gateway cuts the stream at them. */
  readonly cutAt: readonly string[];
  /** True when a parameter was removed, so the client's own bytes cannot be relayed. */
  readonly changed: boolean;
}

/** Returns the request without the parameters that this endpoint does not accept. */
export function adaptRequest(
  request: CanonicalRequest,
  endpoint: Endpoint,
  protocol: Protocol,
  report: Report,
): AdaptedRequest {
  let adapted: { -readonly [Key in keyof CanonicalRequest]: CanonicalRequest[Key] } | undefined;
  let cutAt: readonly string[] = [];
  for (const parameter of parametersLacking(protocol, endpoint, request)) {
    const value = request[parameter];
    if (value === undefined || isNeutral(parameter, value) || isTaken(parameter, request, endpoint)) continue;
    adapted ??= { ...request };
    adapted[parameter] = undefined;
    if (parameter === 'stop' && request.stop) {
      cutAt = request.stop;
      continue;
    }
    report.add(
      PARAMETERS[parameter],
      'dropped',
      `${endpoint.slug} does not support this parameter for ${endpoint.model}`,
    );
  }
  return { request: adapted ?? request, cutAt, changed: adapted !== undefined };
}

/**
 * Names of the parameters in a request that an endpoint does not support natively, as the client wrote them
 * (`provider.require_parameters`).
 */
export function lackingParameters(request: CanonicalRequest, endpoint: Endpoint): readonly string[] {
  const protocol = findProtocol(endpoint.protocol);
  if (!protocol) return [endpoint.protocol];
  const names: string[] = [];
  const nameOf = (path: string): string => request.report.nameOf(path);
  for (const parameter of parametersLacking(protocol, endpoint, request)) {
    const value = request[parameter];
    if (value !== undefined && !isNeutral(parameter, value) && !isTaken(parameter, request, endpoint))
      names.push(nameOf(PARAMETERS[parameter]));
  }
  const { effort, enabled, maxTokens } = request.reasoning;
  const isReasoning =
    (effort !== undefined && effort !== 'none') || enabled === true || maxTokens !== undefined;
  if (isReasoning && endpoint.reasoningStyle === 'none') names.push(nameOf('reasoning'));
  const format = request.responseFormat?.type;
  const level = endpoint.quirks.structuredOutput;
  if (format === 'json_schema' && level !== 'json_schema') names.push(nameOf('response_format'));
  else if (format === 'json_object' && level === 'none') names.push(nameOf('response_format'));
  return names;
}

/** A client that uses the upstream's own protocol cannot have set parameters that the protocol lacks. */
function parametersLacking(
  protocol: Protocol,
  endpoint: Endpoint,
  request: CanonicalRequest,
): Iterable<Parameter> {
  if (request.protocol === protocol.name) return endpoint.unsupported;
  return preparedEndpoint(endpoint).lacking;
}

/** True for a parameter that the model refuses only while reasoning, when the request turns reasoning off. */
function isTaken(parameter: Parameter, { reasoning }: CanonicalRequest, endpoint: Endpoint): boolean {
  if (!endpoint.onlyWithoutReasoning.has(parameter) || endpoint.reasoningMandatory) return false;
  return reasoning.enabled === false || reasoning.effort === 'none';
}
