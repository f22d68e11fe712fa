import type { ChainInput } from '../../machines/contracts/chain-input.ts';
import type { ChainParts } from './actors.ts';
import { liveWorld } from './live-world.ts';
import { openRun } from './open-run.ts';
import type { Run } from './run.ts';
import { runStart } from './run-start.ts';

export function startRun(input: ChainInput, parts: ChainParts, signal?: AbortSignal): Run {
  const { clock } = parts;
  const beganAtMs = clock.now();
  const { run, stage, obey } = openRun(runStart(input, parts), { parts, atMs: () => clock.now() - beganAtMs });
  stage.enter(liveWorld(clock, stage.deliver));
  stage.start();
  obey(signal);
  return run;
}
