#include "report/page.h"

#include <fmt/format.h>

namespace strop::report {

namespace {

// Series colours after Okabe and Ito (2008), which people with any colour vision tell apart.
constexpr const char* style_sheet = R"css(
:root {
  color-scheme: light dark;
  --paper: #fdfdfb; --ink: #1b1d20; --dim: #63686f; --rule: #dcdcd6; --grid: #ecece6; --panel: #f5f5f1;
  --accent: #0b5fa5; --good: #17743c; --bad: #b3261e; --losing: #b3261e0d;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #a8588a; --c4: #b8860b; --c5: #5b6770;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15171a; --ink: #e6e6e2; --dim: #9aa0a8; --rule: #34383d; --grid: #26292e; --panel: #1d2024;
    --accent: #6cb6f5; --good: #5fce8b; --bad: #ff8b80; --losing: #ff8b8012;
    --c0: #56b4e9; --c1: #f08c4a; --c2: #2fc79a; --c3: #d68fbb; --c4: #e3b341; --c5: #a7b0b8;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 1060px; padding: 44px 32px 72px; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1 { margin: 0 0 10px; font-size: 34px; line-height: 1.18; font-weight: 650; letter-spacing: -.015em;
  text-wrap: balance;
     overflow-wrap: break-word; }
h2 { margin: 52px 0 6px; padding-top: 14px; border-top: 1px solid var(--rule); font-size: 19px;
  font-weight: 650;
     letter-spacing: -.005em; }
h3 { margin: 24px 0 4px; font-size: 15px; }
p { margin: 6px 0 14px; max-width: 78ch; }
.kicker { color: var(--dim); font-size: 13px; letter-spacing: .02em; margin: 0 0 14px;
  overflow-wrap: anywhere; }
.kicker b { color: var(--ink); font-weight: 650; }
.lead { font-size: 17px; color: var(--dim); margin: 0; max-width: 70ch; }
.note { color: var(--dim); font-size: 13.5px; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 1px;
  margin: 30px 0 22px;
         background: var(--rule); border: 1px solid var(--rule); border-radius: 8px; overflow: hidden; }
.facts div { background: var(--panel); padding: 13px 16px 14px; }
.facts b { display: block; font-size: 21px; line-height: 1.3; font-weight: 650;
  font-variant-numeric: tabular-nums; }
.facts span { color: var(--dim); font-size: 12.5px; line-height: 1.35; display: block; }
.caveats { margin: 14px 0 8px; padding: 12px 16px 12px 34px; border-left: 3px solid var(--c4);
  background: var(--panel);
           border-radius: 0 8px 8px 0; font-size: 14px; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 14px 0; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 500; color: var(--dim); font-size: 12.5px; vertical-align: bottom; }
th, td { padding: 7px 14px 7px 0; border-bottom: 1px solid var(--grid); }
thead th { border-bottom: 1px solid var(--rule); }
td { vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
.r { text-align: right; }
td.r, td small, th small { white-space: nowrap; }
td small, th small { display: block; color: var(--dim); font-size: 11.5px; font-weight: 400; }
td.label { font-weight: 600; min-width: 96px; }
th.name { min-width: 130px; }
table.pairs td:first-child { color: var(--dim); width: 190px; white-space: nowrap; }
table.pairs td { overflow-wrap: anywhere; }
code, pre, .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  }
code { font-size: .92em; overflow-wrap: break-word; }
pre { margin: 8px 0 0; padding: 14px 16px; background: var(--panel); border: 1px solid var(--grid);
  border-radius: 8px;
      overflow-x: auto; font-size: 12px; line-height: 1.5; tab-size: 4; }
details { margin: 10px 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); } .dim { color: var(--dim); }
svg.bar { min-width: 0; height: 12px; border-radius: 6px; margin: 16px 0 8px; background: var(--grid); }
.keys { display: flex; flex-wrap: wrap; gap: 4px 22px; font-size: 13px; color: var(--dim);
        font-variant-numeric: tabular-nums; }
.keys i { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 7px; }
.b0 { background: var(--c0); } .b1 { background: var(--c1); } .b2 { background: var(--c2); }
.b3 { background: var(--c3); } .b4 { background: var(--c5); } .b5 { background: var(--c4); }
svg .b0 { fill: var(--c0); } svg .b1 { fill: var(--c1); } svg .b2 { fill: var(--c2); }
svg .b3 { fill: var(--c3); } svg .b4 { fill: var(--c5); } svg .b5 { fill: var(--c4); }
figure { margin: 16px 0 0; }
figcaption { color: var(--dim); font-size: 13px; max-width: 86ch; margin-top: 4px; }
svg { display: block; width: 100%; height: auto; font-family: inherit; }
svg text { fill: var(--ink); }
svg .dim { fill: var(--dim); } svg .good { fill: var(--good); } svg .bad { fill: var(--bad); }
svg .accent { fill: var(--accent); } svg .bold { font-weight: 600; }
svg .halo { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }
svg .grid { stroke: var(--grid); } svg .one { stroke: var(--ink); stroke-width: 1.2; }
svg .losing { fill: var(--losing); } svg .leader { stroke: var(--dim); stroke-width: .8; opacity: .55;
  fill: none; }
svg .roof { stroke: var(--ink); stroke-width: 1.8; } svg .roof.thin { stroke: var(--dim); stroke-width: 1; }
svg .dot { fill: var(--accent); stroke: var(--paper); stroke-width: 1.5; }
svg .faint { fill: var(--dim); opacity: .38; } svg .dots { fill: none; stroke: var(--dim); stroke-width: 6;
  stroke-linecap: round; opacity: .38; } svg .failure { fill: var(--bad); opacity: .85; }
svg .step { fill: none; stroke: var(--accent); stroke-width: 2.4; stroke-linejoin: round; }
svg .step.thin { stroke: var(--dim); stroke-width: 1; opacity: .65; }
svg .whisker { stroke-width: 1.8; stroke-linecap: round; opacity: .7; }
svg .fill0 { fill: var(--c0); } svg .fill1 { fill: var(--c1); } svg .fill2 { fill: var(--c2); }
svg .fill3 { fill: var(--c3); } svg .fill4 { fill: var(--c4); } svg .fill5 { fill: var(--c5); }
svg .stroke0 { stroke: var(--c0); } svg .stroke1 { stroke: var(--c1); } svg .stroke2 { stroke: var(--c2); }
svg .stroke3 { stroke: var(--c3); } svg .stroke4 { stroke: var(--c4); } svg .stroke5 { stroke: var(--c5); }
svg .won { fill: var(--good); } svg .pruned { fill: var(--bad); opacity: .8; }
svg .open { fill: var(--paper); stroke: var(--dim); stroke-width: 1.6; }
svg .won-text { fill: var(--good); } svg .pruned-text { fill: var(--bad); }
svg .branch { fill: none; stroke: var(--rule); stroke-width: 1.4; }
footer { margin-top: 56px; padding-top: 14px; border-top: 1px solid var(--rule); color: var(--dim);
  font-size: 13px;
         overflow-wrap: anywhere; }
@media (max-width: 640px) {
  body { padding: 24px 16px 48px; } h1 { font-size: 26px; }
  figure { overflow-x: auto; } svg { min-width: 640px; } table.pairs td:first-child { width: auto;
  white-space: normal; }
}
@media print {
  :root { --paper: #fff; --ink: #000; --dim: #555; --rule: #ccc; --grid: #e4e4e4; --panel: #f6f6f6;
  --accent: #0b5fa5;
          --good: #17743c; --bad: #b3261e; --losing: #b3261e0d; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  figure, tr, .facts { break-inside: avoid; } h2 { break-after: avoid; }
  pre { white-space: pre-wrap; }
}
)css";

}  // namespace

std::string page(const Page& page) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style{}>{}</style>\n{}</head>\n<body>\n{}<main>\n{}</main>\n<footer>{}</footer>\n"
        "</body>\n</html>\n",
        page.title, page.nonce.empty() ? "" : fmt::format(" nonce=\"{}\"", page.nonce), style_sheet, page.head,
        page.header, page.body, page.footer);
}

std::string figure(const std::string& title, const std::string& svg, const std::string& caption) {
    if (svg.empty()) return {};
    return fmt::format("<h2>{}</h2>\n<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n", title, svg, caption);
}

}  // namespace strop::report
