# Stand-ins for the Tcl commands of Vitis HLS: they record every call and refuse what the vendor's would.
#
#   tclsh vitis_hls.tcl open_project|open_component SCRIPT
#
# The first word is the generation: a project with solutions (up to 2024.1), or a component (2024.2 and newer). A call
# goes to standard output as a list. A wrong command, option, order or file name ends the run with an error. They know
# nothing of hardware: csynth_design only leaves a mark, which cosim_design and export_design ask for.

lassign $argv generation script
array set state {open "" solution "" top "" part "" clock "" sources {} testbench {}}

proc refuse {text} {
    error "stand-in: $text"
}

# What a command was given: options and the words that follow none. `known`: {option arguments ...}
proc options {command known words} {
    puts [list $command {*}$words]
    set found {}
    set rest {}
    for {set at 0} {$at < [llength $words]} {incr at} {
        set word [lindex $words $at]
        if {![string match -* $word]} {
            lappend rest $word
        } elseif {![dict exists $known $word]} {
            refuse "$command has no option $word"
        } elseif {[dict exists $found $word]} {
            refuse "$command has $word twice"
        } elseif {[dict get $known $word] == 0} {
            dict set found $word 1
        } else {
            incr at
            if {$at >= [llength $words]} { refuse "$command $word has no value" }
            dict set found $word [lindex $words $at]
        }
    }
    return [list $found $rest]
}

proc one_word {command rest} {
    if {[llength $rest] != 1} { refuse "$command takes one name, not '$rest'" }
    return [lindex $rest 0]
}

proc need {command args} {
    global state
    foreach {what text} {
        open "no project or component is open" solution "no solution is open" top "set_top was not called"
        part "set_part was not called" clock "create_clock was not called" sources "there are no sources"
        testbench "there is no testbench"
    } {
        if {$what in $args && $state($what) eq ""} { refuse "$command: $text" }
    }
}

proc flow_target {command found} {
    if {[dict exists $found -flow_target] && [dict get $found -flow_target] ni {vitis vivado}} {
        refuse "$command -flow_target is vitis or vivado"
    }
}

# The mark of a synthesis; -reset takes it away.
proc mark {} {
    global state
    return [file join $state(open) $state(solution) synthesised]
}

proc begun {name solution found} {
    global state
    set state(open) $name
    set state(solution) $solution
    if {[dict exists $found -reset]} {
        file delete -force $name
    }
    file mkdir [file join $name $solution]
}

if {$generation eq "open_project"} {
    proc open_project {args} {
        global state
        lassign [options open_project {-reset 0 -upgrade 0} $args] found rest
        if {$state(open) ne ""} { refuse "open_project: $state(open) is open already" }
        begun [one_word open_project $rest] "" $found
    }
    proc open_solution {args} {
        global state
        need open_solution open
        lassign [options open_solution {-reset 0 -flow_target 1} $args] found rest
        flow_target open_solution $found
        set name [one_word open_solution $rest]
        set state(solution) $name
        if {[dict exists $found -reset]} { file delete -force [file join $state(open) $name] }
        file mkdir [file join $state(open) $name]
    }
    proc close_project {args} {
        need close_project open
        options close_project {} $args
        forget
    }
} else {
    proc open_component {args} {
        global state
        lassign [options open_component {-reset 0 -flow_target 1} $args] found rest
        flow_target open_component $found
        if {$state(open) ne ""} { refuse "open_component: $state(open) is open already" }
        begun [one_word open_component $rest] hls $found
    }
    proc close_component {args} {
        need close_component open
        options close_component {} $args
        forget
    }
}

proc forget {} {
    global state
    array set state {open "" solution "" top "" part "" clock "" sources {} testbench {}}
}

proc add_files {args} {
    global state
    need add_files open
    lassign [options add_files {-tb 0 -cflags 1 -csimflags 1} $args] found rest
    if {![llength $rest]} { refuse "add_files names no file" }
    foreach file [concat {*}$rest] {
        if {![file isfile $file]} { refuse "add_files: there is no file $file" }
        lappend state([expr {[dict exists $found -tb] ? "testbench" : "sources"}]) $file
    }
    if {[dict exists $found -cflags]} {
        foreach flag [dict get $found -cflags] {
            if {[string match -I* $flag]} {
                if {![file isdirectory [string range $flag 2 end]]} { refuse "add_files: there is no folder for $flag" }
            } elseif {$flag ni {-std=c++11 -std=c++14 -std=c++17}} {
                refuse "add_files: the flag $flag is not known here"
            }
        }
    }
}

proc text_of {file} {
    set channel [open $file]
    set text [read $channel]
    close $channel
    return $text
}

proc set_top {args} {
    global state
    need set_top open sources
    lassign [options set_top {} $args] found rest
    set state(top) [one_word set_top $rest]
    foreach file $state(sources) {
        if {[regexp "\\mvoid\\s+$state(top)\\s*\\(" [text_of $file]]} return
    }
    refuse "set_top: no source defines $state(top)"
}

proc set_part {args} {
    global state
    need set_part open solution
    lassign [options set_part {} $args] found rest
    set state(part) [one_word set_part $rest]
    if {![regexp {^xc[a-z0-9]+-[a-z0-9]+-[0-9][a-zA-Z]*(-[a-z])?$} $state(part)]} {
        refuse "set_part: $state(part) is no part"
    }
}

proc create_clock {args} {
    global state
    need create_clock open solution
    lassign [options create_clock {-period 1 -name 1} $args] found rest
    if {[llength $rest] || ![dict exists $found -period]} { refuse "create_clock needs -period" }
    set state(clock) [dict get $found -period]
    if {![regexp {^[0-9]+(\.[0-9]+)?(ns|MHz)?$} $state(clock)]} { refuse "create_clock: no period is $state(clock)" }
}

proc set_clock_uncertainty {args} {
    need set_clock_uncertainty open solution clock
    lassign [options set_clock_uncertainty {} $args] found rest
    lassign $rest share name
    if {[llength $rest] != 2 || $name ne "default"} { refuse "set_clock_uncertainty takes a share and a clock" }
    if {![regexp {^[0-9]+(\.[0-9]+)?%?$} $share]} { refuse "set_clock_uncertainty: no uncertainty is $share" }
}

# The testbench's first argument is the folder of its data.
proc check_argv {command found} {
    if {![dict exists $found -argv]} return
    set folder [lindex [dict get $found -argv] 0]
    if {[file pathtype $folder] ne "absolute"} { refuse "$command: simulations run elsewhere, so $folder is not found" }
    if {![llength [glob -nocomplain -directory $folder *.npy]]} { refuse "$command: there are no data in $folder" }
}

proc csim_design {args} {
    need csim_design open solution top sources testbench
    lassign [options csim_design {-argv 1 -clean 0 -setup 0 -O 0 -ldflags 1} $args] found rest
    if {[llength $rest]} { refuse "csim_design takes no '$rest'" }
    check_argv csim_design $found
}

proc csynth_design {args} {
    need csynth_design open solution top part clock sources
    lassign [options csynth_design {-dump_cfg 0 -dump_post_cfg 0 -synthesis_check 0} $args] found rest
    if {[llength $rest]} { refuse "csynth_design takes no '$rest'" }
    close [open [mark] w]
}

proc synthesised {command} {
    if {![file exists [mark]]} { refuse "$command: there is no synthesis to go on from" }
}

proc cosim_design {args} {
    need cosim_design open solution top part clock sources testbench
    lassign [options cosim_design {-argv 1 -rtl 1 -trace_level 1 -O 0 -ldflags 1 -tool 1} $args] found rest
    if {[llength $rest]} { refuse "cosim_design takes no '$rest'" }
    synthesised cosim_design
    check_argv cosim_design $found
}

proc export_design {args} {
    need export_design open solution top part clock
    lassign [options export_design {-format 1 -output 1 -rtl 1 -flow 1 -vendor 1 -version 1} $args] found rest
    if {[llength $rest]} { refuse "export_design takes no '$rest'" }
    if {![dict exists $found -format] || [dict get $found -format] ni {ip_catalog xo syn_dcp sysgen}} {
        refuse "export_design -format is ip_catalog, xo, syn_dcp or sysgen"
    }
    if {[dict get $found -format] eq "xo" && ![string match *.xo [dict get $found -output]]} {
        refuse "export_design -output must end in .xo"
    }
    synthesised export_design
}

source $script
puts "it did not exit"
