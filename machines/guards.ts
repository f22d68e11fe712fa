import type { GuardResult } from './contracts/decision.ts';

type VerdictOf<Args, Params> = (args: Args, params: Params) => GuardResult;

/** The guards of a chart out of its verdicts, name by name: a guard asks whether its verdict holds, and does nothing else. */
export function guardsOf<Verdicts extends Record<string, VerdictOf<never, never>>>(verdicts: Verdicts) {
  const guards: Record<string, (args: never, params: never) => boolean> = {};
  for (const [name, verdictOf] of Object.entries(verdicts))
    guards[name] = (args, params) => verdictOf(args, params).holds;
  return guards as {
    [Name in keyof Verdicts]: (args: Parameters<Verdicts[Name]>[0], params: ParamsOf<Verdicts[Name]>) => boolean;
  };
}

type ParamsOf<V> = V extends (args: never, params: infer Params) => GuardResult
  ? unknown extends Params
    ? unknown
    : Params
  : never;
