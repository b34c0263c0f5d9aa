import { createClient } from "@parley/client";
import { browserStorage } from "@parley/client/storage";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { askAccess } from "./app/access/access.js";
import { App } from "./app/app.js";
import { keepPageOffline } from "./app/offline-page.js";
import { steadyPace } from "./app/steady-pace.js";
import { followTheme } from "./app/theme.js";
import { commitDeletesOnLeave } from "./list/conversation-actions.js";
import "./styles.css";

// The code that shows an answer is fetched while the page is drawn, and runs after that.
const answerLinks = document.getElementById("answer-links");
if (answerLinks instanceof HTMLTemplateElement) document.head.append(answerLinks.content);

const client = createClient({ url: location.origin, schedule: steadyPace(), storage: browserStorage() });
void askAccess(client);
followTheme();
commitDeletesOnLeave();
keepPageOffline();

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no root element");
createRoot(root).render(
  <StrictMode>
    <App client={client} />
  </StrictMode>,
);
