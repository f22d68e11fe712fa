export interface StateRef {
  readonly chartId: string;
  readonly stateId: string;
}

/** Identifies an invoked chart together with the state that invokes it: each such copy has its own marks and measures. */
export const copyKey = (chartId: string, { chartId: hostChart, stateId }: StateRef): string =>
  JSON.stringify([chartId, hostChart, stateId]);
