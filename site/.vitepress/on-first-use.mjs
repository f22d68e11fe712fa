/**
 * Runs before the app of a page, and imports it on first use, so that the page is shown without scripts. A click or hotkey before the app has
 * mounted is kept, and dispatched again afterward.
 */
export function onFirstUse(app) {
  const uses = ['pointermove', 'pointerdown', 'keydown', 'click'];
  const { pathname } = location;
  let early;
  function load() {
    for (const use of uses) removeEventListener(use, load, true);
    import(app);
  }
  function keepForLater(event) {
    const { type, key, ctrlKey, metaKey, target } = event;
    const isHotkey = key === '/' || (key === 'k' && (ctrlKey || metaKey));
    if (type === 'click' ? target.closest('button, [role=button]') === null : !isHotkey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    early = event;
  }
  // After Back to another path, this document has the wrong page.
  const reloadIfLeft = () => location.pathname === pathname || location.reload();
  function mounted() {
    removeEventListener('click', keepForLater, true);
    removeEventListener('keydown', keepForLater, true);
    removeEventListener('popstate', reloadIfLeft);
    early?.target.dispatchEvent(new early.constructor(early.type, early));
  }
  for (const use of uses) addEventListener(use, load, true);
  addEventListener('click', keepForLater, true);
  addEventListener('keydown', keepForLater, true);
  addEventListener('popstate', reloadIfLeft);
  addEventListener('app-mounted', mounted, { once: true });
}
