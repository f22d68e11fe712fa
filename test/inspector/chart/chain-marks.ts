import { ownCharts } from './chart-rig.ts';

const [chain] = ownCharts.charts;
/** The place of a transition of the chain in its chart. */
export const index = (source: string, target: string): number =>
  chain?.transitions.findIndex((one) => one.source === source && one.target.includes(target)) ?? -1;
const READING = 'postChain.cycling.experience.reading';
const DECIDING = 'postChain.cycling.yield.deciding';

/** The run thinks in `intention`, and came there just now. */
export const thinking = {
  active: {
    postChain: ['postChain', 'postChain.cycling', 'intention'],
    attempt: ['attempt', 'attempt.calling', 'attempt.calling.streaming'],
  },
  where: { attempt: { chartId: 'postChain', stateId: 'intention' } },
  taken: {
    postChain: [
      [index('action', 'experience'), 1],
      [index(READING, 'intention'), 2],
    ],
  },
  last: { chartId: 'postChain', transition: index(READING, 'intention'), source: READING, target: 'intention' },
};
/** It came back to `experience` just now, by a chip. */
export const deciding = {
  active: { postChain: ['postChain', 'postChain.cycling', 'experience', 'postChain.cycling.experience.retrieving'] },
  where: {},
  taken: { postChain: [[index(DECIDING, 'experience'), 1]] },
  last: { chartId: 'postChain', transition: index(DECIDING, 'experience'), source: DECIDING, target: 'experience' },
};
