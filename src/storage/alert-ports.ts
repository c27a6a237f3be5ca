// What is remembered of alerts, so that each is told once.

export interface AlertStore {
  /**
   * Notes that an event is told now.
   * @param quietMs how long the same is not told again; Infinity: never
   * @returns false where it was told within that time
   * @throws GatewayError `internal` when it could not be noted
   */
  claim(id: string, nowMs: number, quietMs: number): Promise<boolean>;
}
