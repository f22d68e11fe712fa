/** Does something once before the next frame, however often it is asked for until then; where nobody looks, a little later. */
export function oncePerFrame(act: () => void): () => void {
  let isDue = false;
  const run = (): void => {
    isDue = false;
    act();
  };
  return () => {
    if (isDue) return;
    isDue = true;
    if (document.visibilityState === 'visible') requestAnimationFrame(run);
    else setTimeout(run, 250);
  };
}
