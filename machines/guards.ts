import type { GuardResult } from './contracts/decision.ts';

type GuardPolicy<Args, Params> = (args: Args, params: Params) => GuardResult;

/** Returns the XState guards of these policies, by the same names. Journals record the values that a guard compared: `explain` returns them. */
export function guardsOf<Policies extends Record<string, GuardPolicy<never, never>>>(policies: Policies) {
  const guards: Record<string, (args: never, params: never) => boolean> = {};
  for (const [name, policy] of Object.entries(policies))
    guards[name] = Object.assign((args: never, params: never) => policy(args, params).holds, { explain: policy });
  return guards as {
    [Name in keyof Policies]: (args: Parameters<Policies[Name]>[0], params: ParamsOf<Policies[Name]>) => boolean;
  };
}

type ParamsOf<Policy> = Policy extends (args: never, params: infer Params) => GuardResult
  ? unknown extends Params
    ? unknown
    : Params
  : never;
