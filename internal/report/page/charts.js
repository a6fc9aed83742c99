// Makes the report's static pictures interactive: drag to zoom, double-click
// to see all again, hover for values, click a name to hide its line. Without
// it the page is complete. Coordinates of logarithmic axes come as decimal
// logarithms, those of percentiles as log10 of 1/(1-p).
(function () {
  "use strict";
  var charts = JSON.parse(document.getElementById("data").textContent);
  var root = document.documentElement;
  var css = function (name) { return getComputedStyle(root).getPropertyValue(name).trim(); };

  // ---- values as text -------------------------------------------------
  function significant(v) {
    return v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2);
  }
  function duration(ns) {
    if (ns < 999.5) return ns.toFixed(0) + " ns";
    if (ns < 999.5e3) return significant(ns / 1e3) + " µs";
    if (ns < 999.5e6) return significant(ns / 1e6) + " ms";
    return significant(ns / 1e9) + " s";
  }
  function round(v) { return +v.toPrecision(3); }
  function shortDuration(ns) {
    if (ns >= 0.999999e9) return round(ns / 1e9) + " s";
    if (ns >= 0.999999e6) return round(ns / 1e6) + " ms";
    if (ns >= 0.999999e3) return round(ns / 1e3) + " µs";
    return round(ns) + " ns";
  }
  function shortCount(n) {
    var a = Math.abs(n);
    if (a >= 1e9) return +(n / 1e9).toPrecision(4) + " G";
    if (a >= 1e6) return +(n / 1e6).toPrecision(4) + " M";
    if (a >= 1e3) return +(n / 1e3).toPrecision(4) + " k";
    return String(+n.toPrecision(4));
  }
  function grouped(n) { return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ","); }
  function percentile(x) { return "p" + (100 - 100 * Math.pow(10, -x)).toFixed(Math.max(1, Math.ceil(x - 1))); }

  var label = { // of an axis
    percentile: function (v) {
      if (v === 0) return "0 %";
      if (Math.abs(v - Math.log10(2)) < 1e-9) return "50 %";
      return v === 1 ? "90 %" : v === 2 ? "99 %" : "99." + "9".repeat(Math.round(v) - 2) + " %";
    },
    seconds: function (v) { return +v.toFixed(6) + " s"; },
    duration: function (v) { return shortDuration(Math.pow(10, v)); },
    logcount: function (v) { return shortCount(Math.pow(10, v)); },
    count: shortCount,
    rate: function (v) { return shortCount(v) + "/s"; },
    share: function (v) { return +(v * 100).toFixed(4) + " %"; },
    change: function (v) { return (v > 0 ? "+" : "") + +(v * 100).toFixed(4) + " %"; }
  };
  var exact = { // under the pointer
    percentile: percentile,
    seconds: function (v) { return v.toFixed(2) + " s"; },
    duration: function (v) { return duration(Math.pow(10, v)); },
    logcount: function (v) { return v < 0 ? "0" : grouped(Math.pow(10, v)); },
    count: grouped,
    rate: function (v) { return grouped(v) + "/s"; },
    share: function (v) { return (v * 100).toFixed(1) + " %"; },
    change: function (v) { return (v > 0 ? "+" : "") + (v * 100).toFixed(1) + " %"; }
  };
  var logarithmic = { duration: true, logcount: true };

  // ---- ticks ------------------------------------------------------------
  var steps = [0, Math.log10(2), Math.log10(5)];
  function ticks(scale, min, max, n) {
    var out = [], step, i;
    if (scale === "percentile") {
      [0, steps[1]].concat([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).forEach(function (t) { if (t >= min - 1e-9 && t <= max + 1e-9) out.push(t); });
      return out;
    }
    if (logarithmic[scale]) {
      var between = (max - min) * 3 <= n + 1, every = Math.max(1, Math.ceil((max - min) / n));
      for (var e = Math.floor(min); e <= max + 1e-9; e++) {
        if (!between && e % every) continue;
        steps.slice(0, between ? 3 : 1).forEach(function (s) { if (e + s >= min - 1e-9 && e + s <= max + 1e-9) out.push(e + s); });
      }
      if (out.length > 1) return out; // zoomed in between two of them: divide evenly
      out = [];
    }
    step = (max - min) / n;
    var unit = Math.pow(10, Math.floor(Math.log10(step)));
    step = unit * [1, 2, 5, 10].find(function (f) { return f * unit >= step * (1 - 1e-9); });
    for (i = Math.ceil(min / step - 1e-9); i * step <= max + step * 1e-9; i++) out.push(i * step + 0);
    return out;
  }
  function outwards(v, up) { // to the logarithm of 1, 2 or 5 times a power of ten
    var whole = Math.floor(v), rest = v - whole;
    if (!up) return whole + steps.filter(function (s) { return s <= rest + 1e-9; }).pop();
    return whole + steps.concat(1).find(function (s) { return s >= rest - 1e-9; });
  }

  // ---- one chart ----------------------------------------------------------
  function draw(c, box) {
    var colour = function (i) { return css("--c" + i); };
    function fill(u, l) { // the confidence band
      var ctx = u.ctx, xs = u.data[0], on = false, i;
      ctx.beginPath();
      for (i = 0; i < xs.length; i++) if (l.hi[i] !== null) {
        ctx[on ? "lineTo" : "moveTo"](u.valToPos(xs[i], "x", true), u.valToPos(l.hi[i], "y", true));
        on = true;
      }
      for (i = xs.length - 1; i >= 0; i--) if (l.lo[i] !== null) ctx.lineTo(u.valToPos(xs[i], "x", true), u.valToPos(l.lo[i], "y", true));
      ctx.closePath();
      ctx.globalAlpha = 0.16;
      ctx.fillStyle = colour(l.colour);
      ctx.fill();
      ctx.globalAlpha = 1;
    }
    function clipped(u, what) {
      var b = u.bbox;
      u.ctx.save();
      u.ctx.beginPath();
      u.ctx.rect(b.left, b.top, b.width, b.height);
      u.ctx.clip();
      what(u.ctx, b);
      u.ctx.restore();
    }
    function behind(u) {
      clipped(u, function (ctx, b) {
        ctx.fillStyle = css("--soft");
        ctx.globalAlpha = 0.2;
        c.moments.forEach(function (m) {
          if (!m.pause) return;
          var from = u.valToPos(m.from, "x", true), to = u.valToPos(m.to, "x", true);
          var height = m.strip ? 7 * uPlot.pxRatio : b.height; // a stretch with something in it, or all of it
          ctx.fillRect(from, b.top + b.height - height, Math.max(to - from, 2), height);
        });
        ctx.globalAlpha = 1;
        ctx.fillStyle = css("--bad");
        c.moments.forEach(function (m) {
          if (!m.refused) return;
          var from = u.valToPos(m.from, "x", true), to = u.valToPos(m.to, "x", true);
          ctx.fillRect(from, b.top, Math.max(to - from, 2), 7 * uPlot.pxRatio);
        });
        c.lines.forEach(function (l, i) { if (l.lo && u.series[i + 1].show) fill(u, l); });
      });
    }
    function before(u) {
      clipped(u, function (ctx, b) {
        var ratio = uPlot.pxRatio, n = 0;
        ctx.strokeStyle = ctx.fillStyle = css("--soft");
        ctx.lineWidth = ratio;
        ctx.font = 11 * ratio + "px system-ui, sans-serif";
        ctx.textAlign = "left";
        ctx.textBaseline = "top";
        c.moments.forEach(function (m) {
          if (m.pause || m.refused) return;
          var x = u.valToPos(m.from, "x", true);
          if (x < b.left || x > b.left + b.width) return;
          ctx.setLineDash([4 * ratio, 3 * ratio]);
          ctx.beginPath();
          ctx.moveTo(x, b.top);
          ctx.lineTo(x, b.top + b.height);
          ctx.stroke();
          ctx.fillText(m.mark, x + 3 * ratio, b.top + (2 + n++ % 4 * 12) * ratio);
        });
        ctx.setLineDash([]);
      });
    }
    var axis = function (a, side) {
      return {
        scale: side, label: a.label, labelSize: 22, labelGap: 2, size: side === "y" ? 66 : 30, gap: 6,
        font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
        stroke: css("--soft"), grid: { stroke: css("--rule"), width: 1 }, ticks: { show: false },
        splits: function (u, i, min, max) {
          return ticks(a.scale, min, max, side === "y" ? 7 : Math.max(3, Math.floor(u.width / 96)));
        },
        values: function (u, at) {
          var last = -Infinity;
          return at.map(function (v) {
            if (side === "x") { // leave out what would run into its neighbour
              if (u.valToPos(v, "x") - last < 40) return "";
              last = u.valToPos(v, "x");
            }
            return label[a.scale](v);
          });
        }
      };
    };
    var height = c.small ? 320 : 400;
    var resized = new ResizeObserver(function () {
      if (box.clientWidth > 0 && box.clientWidth !== u.width) u.setSize({ width: box.clientWidth, height: height });
    });
    var u = new uPlot({
      width: box.clientWidth, height: height,
      scales: {
        x: {
          time: false,
          range: function (u, min, max) {
            var all = min === null || min <= c.at[0] && max >= c.at[c.at.length - 1];
            return all ? [c.x.min, c.x.max] : [min, max];
          }
        },
        y: {
          range: function (u, min, max) {
            var all = u.scales.x.min === null || u.scales.x.min <= c.x.min && u.scales.x.max >= c.x.max;
            if (min === null || all && min >= c.y.min && max <= c.y.max) return [c.y.min, c.y.max];
            if (c.y.scale === "change") return [Math.min(0, min * 1.06), Math.max(0, max * 1.06) || 0.01];
            return logarithmic[c.y.scale] ? [outwards(min, false), outwards(max + 1e-6, true)] : [Math.min(0, min), max * 1.06 || 1];
          }
        }
      },
      axes: [axis(c.x, "x"), axis(c.y, "y")],
      cursor: {
        drag: { x: true, y: false }, points: { size: 7 },
        sync: c.x.scale === "seconds" ? { key: "time", scales: ["x", null] } : undefined
      },
      legend: {
        markers: {
          width: 3,
          dash: function (u, i) { var d = i && c.lines[i - 1].dash; return !d ? "solid" : d[0] < 4 ? "dotted" : "dashed"; }
        }
      },
      series: [{ label: c.x.scale === "seconds" ? "at" : c.x.label, value: function (u, v, s, i) { return v === null ? "" : c.names ? c.names[i] : exact[c.x.scale](v); } }]
        .concat(c.lines.map(function (l) {
          return {
            label: l.name, stroke: colour(l.colour), width: l.thin ? 1 : 2, alpha: l.thin ? 0.55 : 1, pxAlign: 0, dash: l.dash, spanGaps: c.bridge,
            points: { show: !!(l.dots || l.points), size: 6, fill: colour(l.colour) }, class: l.name ? undefined : "unnamed",
            paths: l.points ? function () { return null; } : l.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
            value: function (u, v) { return v === null || v === undefined ? "" : exact[c.y.scale](v); }
          };
        })),
      hooks: { drawAxes: [behind], draw: [before], destroy: [function () { resized.disconnect(); }] }
    }, data(c), box);
    resized.observe(box);
    return u;
  }

  var drawn = [];
  function data(c) { return [c.at].concat(c.lines.map(function (l) { return l.y; })); }
  function drawAll() {
    drawn.forEach(function (u) { u.destroy(); });
    drawn = charts.map(function (c) {
      var box = document.querySelector('[data-chart="' + c.key + '"]');
      box.classList.add("live");
      return draw(c, box);
    });
  }
  drawAll();

  // ---- runs under way ---------------------------------------------------------
  // A chart with the same lines keeps its zoom and its hidden lines.
  function names(c) { return c.lines.map(function (l) { return l.name; }).join("\n"); }
  var connection = document.getElementById("connection"), keys = null;
  function update(u) {
    document.getElementById("now").innerHTML = u.now;
    var same = u.keys === keys && !u.over;
    if (!same) document.getElementById("pictures").innerHTML = u.pictures;
    keys = u.keys;
    if (!same || u.charts.some(function (c, i) { return names(c) !== names(charts[i]); })) {
      charts = u.charts;
      drawAll();
      return;
    }
    u.charts.forEach(function (c, i) {
      var zoomed = drawn[i].scales.x.min > charts[i].x.min || drawn[i].scales.x.max < charts[i].x.max;
      Object.assign(charts[i], c); // what draws it reads it
      drawn[i].setData(data(c), !zoomed);
      if (zoomed) drawn[i].redraw();
    });
  }
  if (root.dataset.events) {
    connection.textContent = "Connecting …";
    var source = new EventSource(root.dataset.events);
    source.onopen = function () { connection.textContent = "Waiting for the first run …"; };
    source.onmessage = function (e) {
      var u = JSON.parse(e.data);
      update(u);
      connection.hidden = !u.over;
      connection.textContent = "The command has ended: this page is not updated any more.";
      if (u.over) source.close();
    };
    source.onerror = function () {
      connection.hidden = false;
      connection.textContent = "The command has ended, or does not answer: what is below is the last that came.";
    };
  }

  // ---- theme and print ------------------------------------------------------
  var themes = ["automatic", "light", "dark"], theme = 0;
  var button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", function () {
    theme = (theme + 1) % themes.length;
    if (theme) root.setAttribute("data-theme", themes[theme]); else root.removeAttribute("data-theme");
    button.textContent = "Theme: " + themes[theme];
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (d) { d.open = true; });
  });
})();
