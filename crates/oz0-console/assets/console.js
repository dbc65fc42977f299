// Follows what happens elsewhere: when the edge says that something did, the page asks for itself anew.
//
// What somebody is reading is not put in another's place: where a change would come that was not on the page, the page stays
// as it is and says so, since a button may be about to be pressed that was meant for what stood there.
(() => {
  "use strict";
  const lost = document.getElementById("lost");
  const moved = document.getElementById("moved");
  document.getElementById("moved-show").href = location.pathname + location.search;

  // As nodes, and never as text that is read anew: what a server wrote stands in them.
  let morph = null;
  htmx.registerExtension("oz0-follow", {
    init: (api) => {
      morph = api.morph;
    },
  });

  const changes = (root) =>
    new Set([...root.querySelectorAll("[data-change]")].map((one) => one.dataset.change));

  let asking = false;
  let again = false;

  async function refresh() {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    try {
      const answer = await fetch(location.pathname + location.search, {
        headers: { "oz0-live": "1" },
        credentials: "same-origin",
        cache: "no-store",
      });
      if (answer.redirected && new URL(answer.url).pathname === "/sign-in") {
        location.reload();
        return;
      }
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      const page = next.getElementById("page");
      if (!answer.ok || !page) return;
      const here = changes(document);
      const news = [...changes(page)].some((id) => !here.has(id));
      if (news && here.size > 0) {
        moved.hidden = false;
        return;
      }
      moved.hidden = true;
      // What somebody opened stays open.
      for (const details of document.querySelectorAll("details[id]")) {
        const other = page.querySelector("#" + CSS.escape(details.id));
        if (other) other.open = details.open;
      }
      document.title = next.title;
      const fragment = document.createDocumentFragment();
      fragment.append(document.adoptNode(page));
      morph(document.getElementById("page"), fragment, false);
      document.body.dataset.refreshed = String(Number(document.body.dataset.refreshed || 0) + 1);
    } catch {
      // The connection says so itself, below.
    } finally {
      asking = false;
      if (again) {
        again = false;
        refresh();
      }
    }
  }

  let source = null;
  let wasLost = false;
  let idle = 0;

  function follow() {
    source = new EventSource(document.body.dataset.events);
    source.addEventListener("here", () => {
      document.body.dataset.following = "yes";
      lost.hidden = true;
      if (wasLost) refresh();
      wasLost = false;
    });
    source.addEventListener("moved", refresh);
    source.addEventListener("error", () => {
      document.body.dataset.following = "no";
      lost.hidden = false;
      wasLost = true;
      // A browser gives up on an answer that is an error; this does not. It may be that nobody is signed in any more.
      if (source.readyState === EventSource.CLOSED) {
        refresh();
        setTimeout(follow, 2000);
      }
    });
  }

  // A browser opens six connections to one host, so pages that nobody sees let go of theirs after a while.
  document.addEventListener("visibilitychange", () => {
    clearTimeout(idle);
    if (document.hidden) {
      idle = setTimeout(() => {
        source.close();
        source = null;
      }, 60000);
    } else if (source === null) {
      wasLost = true;
      follow();
    }
  });

  follow();
})();
