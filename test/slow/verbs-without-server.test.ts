import { describeVerbs } from "../cli/verbs-suite.js";

describeVerbs("without a server");
