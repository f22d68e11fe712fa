/**
 * What comes to a run from outside, one at a time: what comes while the charts are taking something in waits until they are done with
 * it. So the charts of a run are a function of what came, and in which order.
 */
export function createInbox<Item>(take: (item: Item) => void) {
  const waiting: Item[] = [];
  let busy = false;

  function drain(): void {
    busy = true;
    try {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) take(item);
    } finally {
      busy = false;
    }
  }

  return {
    push(item: Item): void {
      waiting.push(item);
      if (!busy) drain();
    },
    /** Does something that the charts take in without anything coming: their start. */
    during(act: () => void): void {
      busy = true;
      try {
        act();
      } finally {
        busy = false;
      }
      drain();
    },
  };
}
